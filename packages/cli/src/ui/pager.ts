import { spawn } from 'node:child_process'
import type { Context } from '../context.ts'
import { textForPager } from './style/terminal-text.ts'

/** Shows data page by page where a human looks; writes it plainly everywhere else. */
export async function page(text: string, ctx: Context): Promise<void> {
  const { env } = ctx.io
  const [program, ...args] = (env['STET_PAGER'] ?? env['PAGER'] ?? 'less -FRX').split(/\s+/).filter(Boolean)
  if (!ctx.isInteractive || program === undefined || program === 'cat' || !(await canShow(program, args, text, ctx))) {
    ctx.io.out(text)
  }
}

// Without a shell: the variable names a program and its arguments, nothing to interpret.
function canShow(program: string, args: string[], text: string, { io }: Context): Promise<boolean> {
  return new Promise((done) => {
    // Ctrl-C at the keyboard is the pager's: left alone, it would read on beside the shell. Heard before the pager can show
    // anything, since whoever sees that may press it at once.
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
    // Leaving the pager before the end closes the pipe.
    child.stdin.on('error', () => {})
    child.stdin.end(textForPager(text))
  })
}
