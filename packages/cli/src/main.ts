#!/usr/bin/env node
import { version } from '../package.json' with { type: 'json' }
import { systemIo } from './io.ts'

const argv = process.argv.slice(2)
const io = systemIo()

if (argv[0] === '--version') io.out(`${version}\n`)
else {
  // Loaded late, so that the version costs no more than the start of Node.
  const { run } = await import('./program.ts')
  // Never process.exit: what is still in a pipe would be lost.
  process.exitCode = await run(argv, io)
}
