import { existsSync } from 'node:fs'
import { DurableFs } from '../../src/durable/durable-fs.ts'

/** While this file exists, the disk of `directory` fails. Any thread can create it. */
export const breakageOf = (directory: string) => `${directory}.broken`

export class FailingFs extends DurableFs {
  protected override syncFile(descriptor: number, path: string): void {
    if (existsSync(breakageOf(this.rootDir))) throw new Error('the disk is broken')
    super.syncFile(descriptor, path)
  }
}
