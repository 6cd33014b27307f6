import { spawn } from 'node:child_process'
import type { Context } from '../context.ts'
import { textForPager } from '../terminal/terminal-style.ts'

/** Shows the text in the pager. Without an interactive terminal or a working pager, writes to standard output. */
export async function page(text: string, ctx: Context): Promise<void> {
  const { env } = ctx.io
  const [program, ...args] = (env['STET_PAGER'] ?? env['PAGER'] ?? 'less -FRX').split(/\s+/).filter(Boolean)
  if (!ctx.isInteractive || program === undefined || program === 'cat' || !(await canShow(program, args, text, ctx))) {
    ctx.io.out(text)
  }
}

// Starts no shell, so the variable may contain only a program and its arguments.
function canShow(program: string, args: string[], text: string, { io }: Context): Promise<boolean> {
  return new Promise((done) => {
    // Ctrl-C belongs to the pager, so the handler ignores SIGINT. Without the handler, Ctrl-C would end only this
    // process, and the pager would compete with the shell for input. Installed first, because the user may press Ctrl-C
    // immediately.
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
    // The write fails if the user leaves the pager early. This is not an error.
    child.stdin.on('error', () => {})
    child.stdin.end(textForPager(text))
  })
}
