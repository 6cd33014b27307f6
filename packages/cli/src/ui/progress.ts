import type { Context } from '../context.ts'
import { eraseLine } from '../terminal/terminal-style.ts'

const showEveryMs = 200

/** Shows a counter on a terminal while `work` runs. */
export async function showProgress<T>(
  { io, flags }: Pick<Context, 'io' | 'flags'>,
  what: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const isShown = io.tty.stderr && !flags.quiet && !flags.json
  let shownAt = 0
  try {
    return await work((done, total) => {
      if (!isShown || Date.now() - shownAt < showEveryMs) return
      shownAt = Date.now()
      io.err(`${eraseLine}${done} of ${total} ${what}`)
    })
  } finally {
    if (shownAt > 0) io.err(eraseLine)
  }
}
