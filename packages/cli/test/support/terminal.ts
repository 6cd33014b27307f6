import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { tally } from '../../../../scripts/tally.ts'

const patienceMs = 120_000

/** Runs a program in a pseudo-terminal and types for the user. */
export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams
  raw = ''
  readonly ended: Promise<number>
  #wake = (): void => {}
  #mark = 0

  /** Every Linux has `script`. Without it the tests fail instead of being skipped. */
  constructor(command: readonly string[], cwd: string, env: Record<string, string>, redirection = '') {
    const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
    tally('child process')
    this.#child = spawn('script', ['-qefc', `stty cols 200 rows 50; exec ${line} ${redirection}`, '/dev/null'], {
      cwd,
      env: { TERM: 'xterm', ...env },
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text
      this.#wake()
    })
    this.#child.stdin.on('error', () => {})
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code) => resolve(code ?? -1))
    })
    onTestFinished(() => void this.#child.kill())
  }

  get screen(): string {
    return stripVTControlCharacters(this.raw)
  }

  type(text: string): void {
    this.#child.stdin.write(text)
  }

  /** Waits for a text that follows the previously awaited text. */
  async shows(text: string): Promise<void> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const at = this.screen.indexOf(text, this.#mark)
      if (at >= 0) {
        this.#mark = at + text.length
        return
      }
      const leftMs = deadline - Date.now()
      if (leftMs <= 0) throw new Error(`"${text}" was not shown:\n${this.screen}`)
      await new Promise<void>((wake) => {
        const timer = setTimeout(wake, leftMs)
        this.#wake = () => {
          clearTimeout(timer)
          wake()
        }
      })
    }
  }
}
