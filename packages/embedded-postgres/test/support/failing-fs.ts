import { existsSync } from 'node:fs'
import { DurableFs } from '../../src/durable/durable-fs.ts'

/** The file whose existence breaks the disk under `directory`: it can be made from any thread. */
export const breakageOf = (directory: string) => `${directory}.broken`

/** A disk whose syncs begin to fail. */
export class FailingFs extends DurableFs {
  protected override syncFile(descriptor: number, path: string): void {
    if (existsSync(breakageOf(this.rootDir))) throw new Error('the disk is broken')
    super.syncFile(descriptor, path)
  }
}
