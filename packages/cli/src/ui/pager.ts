import { spawn } from 'node:child_process'
import type { Context } from '../context.ts'

/** Shows data page by page where a human looks; writes it plainly everywhere else. */
export async function page(text: string, ctx: Context): Promise<void> {
  const { env } = ctx.io
  const [program, ...args] = (env['STET_PAGER'] ?? env['PAGER'] ?? 'less -FRX').split(/\s+/).filter(Boolean)
  if (!ctx.isInteractive || program === undefined || program === 'cat' || !(await canShow(program, args, text))) {
    ctx.io.out(text)
  }
}

// Without a shell: the variable names a program and its arguments, nothing to interpret.
function canShow(program: string, args: string[], text: string): Promise<boolean> {
  return new Promise((done) => {
    const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] })
    child.once('error', () => done(false))
    child.once('close', () => done(true))
    // Leaving the pager before the end closes the pipe.
    child.stdin.on('error', () => {})
    child.stdin.end(text)
  })
}
