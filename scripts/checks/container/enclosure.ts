/**
 * Runs the image's command in Linux namespaces, as a container engine would: first process, host name of its own, no
 * root, read-only file system with the system's libraries, the application and a writable volume. Linux as root only;
 * elsewhere the command runs as an ordinary process.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const NAMESPACES = ['--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child']
const NOBODY = 65_534
const START_LIMIT_MS = 60_000

// `sh` stays the first process until `exec` makes the server that process.
const ENCLOSE = `set -eu
hostname "$NAME"
mount -t tmpfs -o mode=755 tmpfs "$ROOT"
cd "$ROOT"
mkdir -p dev proc usr/bin usr/lib usr/lib64 usr/local/bin opt/stet var/lib/stet
ln -s usr/bin bin; ln -s usr/lib lib; ln -s usr/lib64 lib64
keep() { [ -d "$1" ] || touch "$2"; mount --bind "$1" "$2"; mount -o remount,bind,"$3" "$2"; }
keep /usr/lib usr/lib ro
[ ! -d /usr/lib64 ] || keep /usr/lib64 usr/lib64 ro
for each in sh prlimit unshare; do keep "$(command -v $each)" usr/bin/$each ro; done
for each in null zero urandom; do keep /dev/$each dev/$each rw; done
keep "$NODE" usr/local/bin/node ro
keep "$APPLICATION" opt/stet ro
keep "$VOLUME" var/lib/stet rw
mount -t proc proc proc
mount -o remount,ro "$ROOT"
for each in . opt/stet usr/lib; do
  if touch "$each/probe" 2>/dev/null; then echo "$each is writable" >&2; exit 1; fi
done
exec setpriv --no-new-privs chroot --userspec=${NOBODY}:${NOBODY} --groups= "$ROOT" "$@"`

export interface Image {
  node: string
  application: string
  command: string[]
  environment: NodeJS.ProcessEnv
}

export interface Container {
  /** Rejects if the container does not listen in time. The caller must still kill it. */
  address: Promise<string>
  /** Sends SIGTERM to the first process. @returns the exit code */
  stop(): Promise<number | null>
  /** Does nothing after the end of the container. */
  kill(): Promise<void>
}

export function canEnclose(): boolean {
  const isMerged = existsSync('/bin') && lstatSync('/bin').isSymbolicLink()
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !isMerged) return false
  return spawnSync('unshare', [...NAMESPACES, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
}

/** Lets the user of the container write into its volume, as the Dockerfile's `install -o` does. */
export function volumeOwner(): number {
  return canEnclose() ? NOBODY : (process.getuid?.() ?? 0)
}

export function startContainer(name: string, image: Image, folder: string): Container {
  const isEnclosed = canEnclose()
  const child = isEnclosed ? enclosed(name, image, folder) : plain(image, folder)
  const closed = once(child, 'close')
  const end = async (signal: NodeJS.Signals) => {
    const isOver = child.exitCode !== null || child.signalCode !== null
    const first = isEnclosed && !isOver ? childOf(child) : undefined
    if (first === undefined) child.kill(signal)
    else process.kill(first, signal)
    const [code] = (await closed) as [number | null]
    return code
  }
  return {
    address: addressSaidBy(child),
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  }
}

function enclosed(name: string, image: Image, folder: string): ChildProcess {
  const root = join(folder, 'root')
  mkdirSync(root, { recursive: true })
  const script = { NAME: name, ROOT: root, NODE: image.node, APPLICATION: image.application }
  const env = {
    ...image.environment,
    ...script,
    VOLUME: join(folder, 'volume'),
    PATH: '/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin',
  }
  const args = [...NAMESPACES, 'sh', '-c', ENCLOSE, 'sh', ...image.command]
  return spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

function plain(image: Image, folder: string): ChildProcess {
  const args = image.command.slice(1).map((each) => each.replace(/^\/opt\/stet/, image.application))
  const env = { ...image.environment, PATH: process.env['PATH'], STET_DATA_DIR: join(folder, 'volume') }
  return spawn(image.node, args, { env, cwd: image.application, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The first process of the namespace. Killing `unshare` instead would leave it, because its new user undoes `--kill-child`. */
function childOf({ pid }: ChildProcess): number | undefined {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return first ? Number(first) : undefined
}

function addressSaidBy(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error(`no address in ${START_LIMIT_MS} ms: ${text}`)), START_LIMIT_MS)
    child.once('close', (code) => reject(new Error(`the container ended with ${code}: ${text}`)))
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const [, port] = /listening on http:\/\/[^/\s]+:(\d+)\s/.exec(text) ?? []
      if (port === undefined) return
      clearTimeout(timer)
      resolve(`http://127.0.0.1:${port}`)
    })
  })
}
