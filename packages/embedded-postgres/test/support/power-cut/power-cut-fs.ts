import { join } from 'node:path'
import type { DatabaseFolder } from '../../../src/directory/database-folder.ts'
import { DurableFs } from '../../../src/durable/durable-fs.ts'
import type { FsAttributes, FsNode, MountedOperations, RuntimeModule } from '../../../src/durable/runtime-fs.ts'
import type { CacheDisk } from './cache-disk.ts'

export interface PowerCutOptions {
  disk: CacheDisk
  /** False for the control, where syncs succeed without doing anything, as in plain PGlite. */
  syncs: boolean
}

/** The real durable file system on a disk with a volatile cache. The machine loses power at a chosen event. */
export class PowerCutFs extends DurableFs {
  readonly #options: PowerCutOptions
  #eventsLeft = Number.POSITIVE_INFINITY

  constructor(folder: DatabaseFolder, options: PowerCutOptions) {
    super(folder)
    this.#options = options
  }

  /** Cuts the power at this event, counted from now. A write, a sync and a name change are one event each. */
  cutAfter(events: number): void {
    this.#eventsLeft = events
  }

  protected override install(module: RuntimeModule): MountedOperations {
    const operations = super.install(module)
    this.#watchWrites(operations)
    this.#watchNames(operations, module)
    return operations
  }

  protected override syncFile(descriptor: number, path: string): void {
    this.#event()
    if (!this.#options.syncs) return
    super.syncFile(descriptor, path)
    this.#options.disk.fileSynced(descriptor)
  }

  protected override syncDirectory(path: string): void {
    this.#event()
    if (!this.#options.syncs) return
    super.syncDirectory(path)
    this.#options.disk.directorySynced(path)
  }

  #event(): void {
    this.#eventsLeft -= 1
    if (this.#eventsLeft !== 0) return
    this.#options.disk.cut()
    process.kill(process.pid, 'SIGKILL')
    // The kill signal may take a moment, and nothing may be written after the cut.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }

  #watchWrites({ streams, nodes }: MountedOperations): void {
    const { disk } = this.#options
    const { write, setattr: setStream } = streams
    const { setattr: setNode } = nodes
    streams.write = (stream, buffer, offset, length, position) => {
      disk.beforeWrite(this.hostPath(stream.node), position, length)
      const written = write(stream, buffer, offset, length, position)
      this.#event()
      return written
    }
    const watchTruncate = (node: FsNode, attributes: FsAttributes, apply: () => void) => {
      if (attributes.size !== undefined) disk.beforeTruncate(this.hostPath(node), attributes.size)
      apply()
      this.#event()
    }
    streams.setattr = (stream, attributes) =>
      watchTruncate(stream.node, attributes, () => setStream(stream, attributes))
    nodes.setattr = (node, attributes) => watchTruncate(node, attributes, () => setNode(node, attributes))
  }

  #watchNames({ nodes }: MountedOperations, module: RuntimeModule): void {
    const { disk } = this.#options
    const { mknod, unlink, rmdir, rename } = nodes
    nodes.mknod = (parent, name, mode, device) => {
      const made = mknod(parent, name, mode, device)
      disk.created(this.hostPath(made))
      this.#event()
      return made
    }
    nodes.unlink = (parent, name) => {
      disk.beforeDelete(join(this.hostPath(parent), name))
      unlink(parent, name)
      this.#event()
    }
    nodes.rmdir = (parent, name) => {
      rmdir(parent, name)
      disk.directoryDeleted(join(this.hostPath(parent), name))
      this.#event()
    }
    nodes.rename = (node, newParent, newName) => {
      if (module.FS.isDir(node.mode)) throw new Error('the simulation knows no renamed directories')
      disk.beforeRename(this.hostPath(node), join(this.hostPath(newParent), newName))
      rename(node, newParent, newName)
      this.#event()
    }
  }
}
