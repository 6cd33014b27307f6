import { spawn } from 'node:child_process'
import type { Context } from '../context.ts'
import { textForPager } from './terminal-style.ts'

/** Shows data page by page on a terminal; otherwise writes it directly. */
export async function page(text: string, ctx: Context): Promise<void> {
  const { env } = ctx.io
  const [program, ...args] = (env['STET_PAGER'] ?? env['PAGER'] ?? 'less -FRX').split(/\s+/).filter(Boolean)
  if (!ctx.isInteractive || program === undefined || program === 'cat' || !(await canShow(program, args, text, ctx))) {
    ctx.io.out(text)
  }
}

// No shell: the variable names a program and its arguments.
function canShow(program: string, args: string[], text: string, { io }: Context): Promise<boolean> {
  return new Promise((done) => {
    // Ctrl-C belongs to the pager: without this handler, the pager would survive this program and compete with the shell for input.
    // Installed before the pager shows anything, because the user may press it at once.
    const release = io.onInterrupt((signal) => {
      if (signal === 'SIGTERM') child.kill(signal)
    })
    const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] })
    const end = (isShown: boolean): void => {
      release()
      done(isShown)
    }
    child.once('error', () => end(false))
    child.once('close', () => end(true))
    // The pipe closes when the user leaves the pager before the end.
    child.stdin.on('error', () => {})
    child.stdin.end(textForPager(text))
  })
}
