import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { DatabaseFolder } from '../directory/database-folder.ts'
import { EmbeddedPostgresError, IO_FAILURE } from '../failure.ts'
import { type LogPosition, openLogPosition } from './log-position.ts'
import type { FsNode, FsStream, MountedOperations, RuntimeModule } from './runtime-fs.ts'
import { endOfRecords, isSegmentName, LOG_FOLDER, PAGE_BYTES } from './write-ahead-log.ts'

type InitOptions = Parameters<NodeFS['init']>[1]

const EIO = 29
const WRITE_ERRORS = {
  19: 'disk quota exceeded (EDQUOT)',
  22: 'file too large (EFBIG)',
  29: 'input/output error (EIO)',
  51: 'no space left on device (ENOSPC)',
  69: 'read-only file system (EROFS)',
} as const
const FAILURE_LINE = /(?:FATAL|PANIC): {2}(.*)/
/** Error codes on systems that cannot sync a directory. For a file, these are real failures. */
const NO_DIRECTORY_SYNC = new Set(['EPERM', 'EISDIR', 'EINVAL', 'EBADF'])

/**
 * A file system whose syncs reach the disk. PGlite alone reports success without syncing. The class depends on two
 * undocumented parts of PGlite. Therefore PGlite's version is pinned, and each start tests the syncs.
 */
export class DurableFs extends NodeFS {
  syncCount = 0
  readonly #changedDirectories = new Set<string>()
  #lastWords: string | undefined
  readonly #owner: string
  readonly #logPosition: LogPosition
  /** The end of the last records that were written to the log but not synced. */
  #writtenLog: { file: string; end: number } | undefined
  #isOpen = false

  constructor(folder: DatabaseFolder) {
    const { path, owner } = folder
    const absolute = resolve(path)
    if (absolute === '/pglite' || absolute.startsWith('/pglite/')) {
      throw new EmbeddedPostgresError(
        'The database directory may not lie under /pglite: the embedded database uses that path inside',
      )
    }
    super(absolute)
    this.#owner = owner
    this.#logPosition = openLogPosition({ ...folder, path: absolute })
  }

  override async closeFs(): Promise<void> {
    await super.closeFs()
    this.#logPosition.close()
  }

  override async init(pg: PGlite, options: InitOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    // Runs after the mount and before PostgreSQL starts, so that crash recovery is synced too.
    const install = (module: unknown) => this.install(module as RuntimeModule)
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...(emscriptenOpts.preRun ?? []), install],
        printErr: (line: string) => {
          this.#lastWords = FAILURE_LINE.exec(line)?.[1] ?? this.#lastWords
          emscriptenOpts.printErr?.(line)
        },
        // PostgreSQL calls abort() after a PANIC. Afterwards the engine returns wrong results or loops forever.
        onAbort: (reason: unknown) => this.endWithEngine(reason),
      },
    }
  }

  setOpen(): void {
    this.#isOpen = true
  }

  whyNotOpen(cause: unknown): string {
    const reason = this.#lastWords ?? reasonOf(cause)
    return `The database in ${this.rootDir} does not open: ${reason}. If its files are damaged, restore a backup`
  }

  endWithEngine(cause: unknown): void {
    // A trap has no words of PostgreSQL.
    const reason = this.#lastWords ?? `${reasonOf(cause)}. If its files are damaged, restore a backup`
    if (this.#isOpen) this.fail('its engine failed', reason)
    else this.#end(this.whyNotOpen(cause))
  }

  protected install(module: RuntimeModule): MountedOperations {
    const { node } = module.FS.lookupPath(PGlite.paths.PGDATA, { follow_mount: true })
    const { stream_ops: streams, node_ops: nodes } = node
    this.#rememberDirectoryChanges(nodes)
    const write = streams.write
    streams.write = (stream, buffer, offset, length, position) => {
      try {
        const written = write(stream, buffer, offset, length, position)
        if (written === length) this.#noteLog(stream.node, new Uint8Array(buffer.buffer, offset, length))
        return written
      } catch (error) {
        // PostgreSQL panics after a failed write to the write-ahead log, and the next query would loop forever.
        if (this.hostPath(stream.node).includes(`${sep}pg_wal${sep}`)) this.fail('a write of the log failed', error)
        throw error
      }
    }
    streams.fsync = (stream) => {
      try {
        this.#sync(module, stream)
        return 0
      } catch (error) {
        this.fail('a sync failed', error)
        throw new module.FS.ErrnoError(EIO)
      }
    }
    return { streams, nodes }
  }

  /** Ends the process. Unsynced work was never acknowledged, and the next start runs crash recovery. */
  protected fail(what: string, cause: unknown): void {
    this.#end(`the embedded database stops because ${what}: ${reasonOf(cause)}`)
  }

  #end(reason: string): void {
    writeSync(2, `${this.#owner}: ${reason}\n`)
    // In a thread, `exit` ends only the thread, so SIGKILL ends the process. Process 1 of a container ignores SIGKILL,
    // so the thread exits too.
    if (!isMainThread) process.kill(process.pid, 'SIGKILL')
    process.exit(IO_FAILURE)
  }

  protected syncFile(descriptor: number, _path: string): void {
    fdatasyncSync(descriptor)
  }

  protected syncDirectory(path: string): void {
    const descriptor = openSync(path, 'r')
    try {
      fsyncSync(descriptor)
    } catch (error) {
      if (!NO_DIRECTORY_SYNC.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    } finally {
      closeSync(descriptor)
    }
  }

  protected hostPath(node: FsNode): string {
    const names: string[] = []
    for (let at = node; at.parent !== at; at = at.parent) names.unshift(at.name)
    return join(this.rootDir, ...names)
  }

  #sync(module: RuntimeModule, stream: FsStream): void {
    const path = this.hostPath(stream.node)
    this.syncCount += 1
    if (module.FS.isDir(stream.node.mode)) {
      this.#changedDirectories.delete(path)
      this.syncDirectory(path)
      return
    }
    if (stream.nfd === undefined || stream.nfd === null) throw new Error(`no descriptor for ${path}`)
    this.syncFile(stream.nfd, path)
    // PostgreSQL does not sync the directory of a new relation file, so the file could disappear in a crash.
    const parent = dirname(path)
    if (this.#changedDirectories.delete(parent)) this.syncDirectory(parent)
    if (this.#writtenLog?.file !== stream.node.name) return
    this.#logPosition.set(this.#writtenLog.end)
    this.#writtenLog = undefined
  }

  /** PostgreSQL writes the log in whole pages. */
  #noteLog({ name, parent }: FsNode, bytes: Uint8Array): void {
    if (parent.name !== LOG_FOLDER || !isSegmentName(name)) return
    for (let at = bytes.length - PAGE_BYTES; at >= 0; at -= PAGE_BYTES) {
      const end = endOfRecords(Buffer.from(bytes.buffer, bytes.byteOffset + at, PAGE_BYTES))
      if (end === undefined) continue
      this.#writtenLog = { file: name, end }
      return
    }
  }

  #rememberDirectoryChanges(nodes: MountedOperations['nodes']): void {
    const { mknod, unlink, rmdir } = nodes
    const changed = (node: FsNode) => this.#changedDirectories.add(this.hostPath(node))
    nodes.mknod = (parent, name, mode, device) => {
      const made = mknod(parent, name, mode, device)
      changed(parent)
      return made
    }
    nodes.unlink = (parent, name) => {
      unlink(parent, name)
      changed(parent)
    }
    nodes.rmdir = (parent, name) => {
      rmdir(parent, name)
      changed(parent)
    }
    nodes.rename = (node, newParent, newName) => {
      renameSync(this.hostPath(node), join(this.hostPath(newParent), newName))
      changed(node.parent)
      changed(newParent)
      node.name = newName
    }
  }
}

/** PGlite's file system errors have a WASI errno and no message. */
function reasonOf(cause: unknown): string {
  const errno = (cause as { errno?: unknown } | undefined)?.errno
  if (typeof errno === 'number' && errno in WRITE_ERRORS) return WRITE_ERRORS[errno as keyof typeof WRITE_ERRORS]
  if (cause instanceof Error && cause.message !== '') return cause.message
  return typeof errno === 'number' ? `error ${errno} of WASI` : String(cause)
}
