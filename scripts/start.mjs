/** `pnpm start`: builds what is missing, then is the server itself, under the pinned Node that `pnpm run` finds first. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { quietEnvironment } from './quiet-environment.mjs'

const lookMs = 250

// npx and pnpm pass a signal to the shells between them and this process, which die of it and pass nothing on.
const launchers = launcherLinks()
let isSignalled = false
let isOrphan = false
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onSignal)

const build = [
  'run',
  'build',
  '--filter=@stet/server',
  '--filter=@stet/cli',
  '--output-logs=errors-only',
  '--ui=stream',
]
const server = new URL('../packages/server/dist/main.mjs', import.meta.url)
if (!existsSync(server)) console.log('building stet; the first time takes about a minute')
// Shown only when the build fails: the lines of a start are those of the server.
const { status, stdout, stderr } = spawnSync('turbo', build, {
  stdio: ['inherit', 'pipe', 'pipe'],
  env: quietEnvironment(process.env),
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
})
if (status) process.stderr.write(Buffer.concat([stdout, stderr]))
if (status !== 0 || isLauncherGone()) process.exit(status || 1)

setInterval(stopWithoutLauncher, lookMs).unref()
await import(server.href)

function onSignal(signal) {
  isSignalled = true
  // Until the server listens for signals itself, this listener must not keep them from ending the process.
  if (process.listenerCount(signal) === 1) process.exit(1)
}

// One look later, since a signal to the whole group reaches this process too, and a second one would end it at once.
function stopWithoutLauncher() {
  if (isOrphan && !isSignalled) process.kill(process.pid, 'SIGTERM')
  isOrphan = isLauncherGone()
}

/** [process, its parent] from here up to what was started by hand: the processes between have npm's variables. */
function launcherLinks() {
  const links = [[process.pid, process.ppid]]
  for (let pid = process.ppid; hasNpmVariables(pid); pid = links.at(-1)[1]) links.push([pid, parentOf(pid)])
  return links
}

function isLauncherGone() {
  return launchers.some(([pid, parent]) => parentOf(pid) !== parent)
}

function hasNpmVariables(pid) {
  return /(^|\0)npm_/.test(readProc(pid, 'environ'))
}

function parentOf(pid) {
  if (pid === process.pid) return process.ppid
  // The name in parentheses may hold spaces; the parent is the second field behind it.
  const stat = readProc(pid, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** Empty where there is no such process, or no /proc. */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
