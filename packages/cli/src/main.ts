#!/usr/bin/env node
import { version } from '../package.json' with { type: 'json' }

const argv = process.argv.slice(2)

// All other modules load later, so that `--version` costs no more than starting Node.
if (argv[0] === '--version') process.stdout.write(`${version}\n`)
else {
  const [{ run }, { systemIo }] = await Promise.all([import('./program.ts'), import('./io.ts')])
  const exitCode = await run(argv, systemIo())
  // Waits until all output is written. Otherwise `exit` would truncate output to pipes.
  await Promise.all([process.stdout, process.stderr].map(written))
  // A tool handler of `run --tools` may leave handles open, which would keep the process alive.
  process.exit(exitCode)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => {
    // Writes even if no write is pending: an earlier write may report its error asynchronously.
    stream.write('', () => done())
  })
}
