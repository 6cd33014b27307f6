import type { Io } from '../../src/io.ts'
import { run } from '../../src/program.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Has no terminal, no input and a temporary home. */
export const ioIn = (given: Partial<Io> & { cwd: string }): Io => ({
  env: {},
  homeDir: given.cwd,
  platform: 'linux',
  tty: { stdin: false, stdout: false, stderr: false },
  out: () => {},
  err: () => {},
  readStdin: async () => new Uint8Array(),
  async *stdin() {},
  onInterrupt: () => () => {},
  openLines: () => ({ prompt() {}, close() {} }),
  ...given,
})

/** Runs a command line in this process. */
export async function runInProcess(argv: readonly string[], given: Partial<Io> & { cwd: string }): Promise<Ended> {
  const printed = { stdout: '', stderr: '' }
  const print = (end: 'stdout' | 'stderr') => (text: string) => {
    printed[end] += text
  }
  const code = await run(argv, ioIn({ out: print('stdout'), err: print('stderr'), ...given }))
  return { code, ...printed }
}
