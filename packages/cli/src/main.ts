#!/usr/bin/env node
import { version } from '../package.json' with { type: 'json' }

const argv = process.argv.slice(2)

// Everything else is loaded late, so that the version costs no more than the start of Node.
if (argv[0] === '--version') process.stdout.write(`${version}\n`)
else {
  const [{ run }, { systemIo }] = await Promise.all([import('./program.ts'), import('./io.ts')])
  const exitCode = await run(argv, systemIo())
  // What is still in a pipe would be lost otherwise.
  await Promise.all([process.stdout, process.stderr].map(written))
  // The work is done: what a tool of `run --tools` has left open must not keep the program.
  process.exit(exitCode)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => {
    // Also with nothing left to write: a write that failed is told only afterwards.
    stream.write('', () => done())
  })
}
