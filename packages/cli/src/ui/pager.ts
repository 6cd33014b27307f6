import { spawn } from 'node:child_process'
import type { Context } from '../context.ts'
import { textForPager } from './terminal-style.ts'

/** Uses the pager on a terminal. Otherwise writes directly. */
export async function page(text: string, ctx: Context): Promise<void> {
  const { env } = ctx.io
  const [program, ...args] = (env['STET_PAGER'] ?? env['PAGER'] ?? 'less -FRX').split(/\s+/).filter(Boolean)
  if (!ctx.isInteractive || program === undefined || program === 'cat' || !(await canShow(program, args, text, ctx))) {
    ctx.io.out(text)
  }
}

// Starts no shell: the variable contains a program and its arguments.
function canShow(program: string, args: string[], text: string, { io }: Context): Promise<boolean> {
  return new Promise((done) => {
    // Ctrl-C belongs to the pager. Without this handler, the pager would outlive this process and compete with the shell for
    // input. Installed first, because the user may press Ctrl-C immediately.
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
    // The pipe closes if the user leaves the pager early.
    child.stdin.on('error', () => {})
    child.stdin.end(textForPager(text))
  })
}
