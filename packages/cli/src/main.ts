#!/usr/bin/env node
import { version } from '../package.json' with { type: 'json' }

const argv = process.argv.slice(2)

// Everything else is loaded late, so that the version costs no more than the start of Node.
if (argv[0] === '--version') process.stdout.write(`${version}\n`)
else {
  const [{ run }, { systemIo }] = await Promise.all([import('./program.ts'), import('./io.ts')])
  // Never process.exit: what is still in a pipe would be lost.
  process.exitCode = await run(argv, systemIo())
}
