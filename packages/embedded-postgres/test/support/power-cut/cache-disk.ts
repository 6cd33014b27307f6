import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../random.ts'

const BLOCK = 4096

/**
 * Selects the unsynced data that survives a cut. `ordered`: some blocks, and all name changes up to some point, as in a
 * journaling file system. `strict`: some blocks, and each directory's name changes up to its own point. `nothing`:
 * none.
 */
export type CutModel = 'ordered' | 'strict' | 'nothing'

interface DirtyFile {
  descriptor: number
  syncedSize: number
  /** The bytes at the last sync, by block number. */
  before: Map<number, Buffer>
}

interface NameChange {
  directory: string
  undo(): void
}

/** A disk with a volatile write cache. A power cut reverts some of its unsynced changes. */
export class CacheDisk {
  readonly #model: CutModel
  readonly #random: Random
  readonly #graveyard: string
  readonly #files = new Map<number, DirtyFile>()
  #names: NameChange[] = []
  #graves = 0

  constructor(graveyard: string, model: CutModel, random: Random) {
    this.#graveyard = graveyard
    this.#model = model
    this.#random = random
    rmSync(graveyard, { recursive: true, force: true })
    mkdirSync(graveyard, { recursive: true })
  }

  beforeWrite(path: string, position: number, length: number): void {
    const file = this.#dirty(path)
    for (let block = Math.floor(position / BLOCK); block * BLOCK < position + length; block++) this.#keep(file, block)
  }

  beforeTruncate(path: string, size: number): void {
    const file = this.#dirty(path)
    for (let block = Math.floor(size / BLOCK); block * BLOCK < file.syncedSize; block++) this.#keep(file, block)
  }

  fileSynced(descriptor: number): void {
    const { ino } = fstatSync(descriptor)
    const file = this.#files.get(ino)
    if (file !== undefined) closeSync(file.descriptor)
    this.#files.delete(ino)
    // A journal commits as a whole, so a sync also persists all earlier name changes.
    if (this.#model === 'ordered') this.#names = []
  }

  directorySynced(directory: string): void {
    if (this.#model === 'ordered') this.#names = []
    else this.#names = this.#names.filter((change) => change.directory !== directory)
  }

  created(path: string): void {
    this.#remember(path, () => rmSync(path, { recursive: true, force: true }))
  }

  beforeDelete(path: string): void {
    const grave = this.#bury(path)
    this.#remember(path, () => linkSync(grave, path))
  }

  directoryDeleted(path: string): void {
    this.#remember(path, () => mkdirSync(path))
  }

  beforeRename(from: string, to: string): void {
    const grave = existsSync(to) ? this.#bury(to) : undefined
    this.#remember(to, () => {
      renameSync(to, from)
      if (grave !== undefined) linkSync(grave, to)
    })
  }

  /** The process must end afterwards. */
  cut(): void {
    for (const file of this.#files.values()) this.#cutFile(file)
    const changes = [...this.#names].reverse()
    if (this.#model === 'ordered') {
      for (const change of changes.slice(0, this.#upTo(changes.length))) change.undo()
      return
    }
    for (const directory of new Set(changes.map((change) => change.directory))) {
      const own = changes.filter((change) => change.directory === directory)
      for (const change of own.slice(0, this.#upTo(own.length))) if (existsSync(directory)) change.undo()
    }
  }

  #cutFile(file: DirtyFile): void {
    const loses = () => this.#model === 'nothing' || this.#random() < 0.5
    for (const [block, bytes] of file.before) {
      if (!loses()) continue
      const whole = Buffer.alloc(BLOCK)
      bytes.copy(whole)
      // Beyond the old end a lost block reads as zeros, but must not make the file longer.
      const size = fstatSync(file.descriptor).size
      const length = Math.min(BLOCK, Math.max(size - block * BLOCK, bytes.length))
      if (length > 0) writeSync(file.descriptor, whole, 0, length, block * BLOCK)
    }
    if (loses()) ftruncateSync(file.descriptor, file.syncedSize)
  }

  /** The number of lost changes among the latest `count`: random, or all with `nothing`. */
  #upTo(count: number): number {
    return this.#model === 'nothing' ? count : Math.floor(this.#random() * (count + 1))
  }

  #dirty(path: string): DirtyFile {
    const descriptor = openSync(path, 'r+')
    const { ino, size } = fstatSync(descriptor)
    const known = this.#files.get(ino)
    if (known !== undefined) {
      closeSync(descriptor)
      return known
    }
    const file = { descriptor, syncedSize: size, before: new Map<number, Buffer>() }
    this.#files.set(ino, file)
    return file
  }

  #keep(file: DirtyFile, block: number): void {
    if (file.before.has(block)) return
    const bytes = Buffer.alloc(BLOCK)
    const inside = Math.max(0, Math.min(BLOCK, file.syncedSize - block * BLOCK))
    const read = inside === 0 ? 0 : readSync(file.descriptor, bytes, 0, inside, block * BLOCK)
    file.before.set(block, bytes.subarray(0, read))
  }

  #remember(path: string, undo: () => void): void {
    this.#names.push({ directory: dirname(path), undo })
  }

  #bury(path: string): string {
    this.#graves += 1
    const grave = join(this.#graveyard, String(this.#graves))
    linkSync(path, grave)
    return grave
  }
}
