import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import type { Context } from '../context.ts'

// None of these programs is a shell, which would interpret parts of the address.
const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Resolves once the opener runs. A failure is only a warning, because the address is also printed. */
export function openInBrowser(url: string, { io, warn }: Context): Promise<void> {
  const [program, ...args] = openers[io.platform] ?? ['xdg-open']
  // Windows and a PATH with relative folders would otherwise find the program in the checkout.
  const cwd = dirname(process.execPath)
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, env: { ...io.env }, cwd })
  child.unref()
  return new Promise((resolve) => {
    child.once('spawn', resolve)
    child.once('error', () => {
      // Without the fragment, because it can be the code of a sign-in link.
      warn(`No browser was found for ${url.split('#')[0]}`)
      resolve()
    })
  })
}
