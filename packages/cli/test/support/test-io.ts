import type { Io } from '../../src/io.ts'
import { run } from '../../src/program.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command line in this process, without a terminal and with a temporary home. */
export async function runInProcess(argv: readonly string[], given: Partial<Io> & { cwd: string }): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  const io: Io = {
    env: {},
    homeDir: given.cwd,
    platform: 'linux',
    tty: { stdin: false, stdout: false, stderr: false },
    out: (text) => {
      stdout += text
    },
    err: (text) => {
      stderr += text
    },
    readStdin: async () => new Uint8Array(),
    onInterrupt: () => () => {},
    openLines: () => ({ prompt() {}, close() {} }),
    ...given,
  }
  const code = await run(argv, io)
  return { code, stdout, stderr }
}
