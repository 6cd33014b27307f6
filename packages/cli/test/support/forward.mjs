// Passes a command line to `stetCommand`, whose process runs it.
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'

const [, , socket, ...args] = process.argv
const connection = connect(socket)
connection.end(JSON.stringify({ args, cwd: process.cwd(), env: process.env }))
const { code, stdout, stderr } = await json(connection)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
