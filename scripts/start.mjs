/** `pnpm start`: builds missing parts, then runs the server in this process. `pnpm run` finds the pinned Node first. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { quietEnvironment } from './quiet-environment.mjs'

const dist = new URL('../packages/server/dist/main.mjs', import.meta.url)
const build = [
  'run',
  'build',
  '--filter=@stet/server',
  '--filter=@stet/cli',
  '--output-logs=errors-only',
  '--ui=stream',
]

if (!existsSync(dist)) console.log('building stet; the first time takes about a minute')
// The build's output is shown only if the build fails, so that a start prints only the server's lines.
const { status, stdout, stderr } = spawnSync('turbo', build, {
  stdio: ['inherit', 'pipe', 'pipe'],
  env: quietEnvironment(process.env),
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
})
if (status === 0) {
  // Runs in this process, so that Ctrl-C and the exit code apply to the server.
  await import('../packages/server/bin/stet-server.mjs')
} else {
  process.stderr.write(Buffer.concat([stdout ?? Buffer.alloc(0), stderr ?? Buffer.from('turbo was not found\n')]))
  process.exitCode = status || 1
}
