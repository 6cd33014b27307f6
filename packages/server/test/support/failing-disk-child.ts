/** Commits on a disk whose syncs begin to fail. Started by durability.test.ts. */
import { writeSync } from 'node:fs'
import { DurableFs } from '../../src/adapters/database/embedded/durable/durable-fs.ts'
import { openPglite } from '../../src/adapters/database/embedded/open-pglite.ts'

class FailingFs extends DurableFs {
  isBroken = false

  protected override syncFile(descriptor: number, path: string): void {
    if (this.isBroken) throw new Error('the disk is broken')
    super.syncFile(descriptor, path)
  }
}

const directory = process.argv[2] ?? ''
const fs = new FailingFs(directory)
const pglite = await openPglite(directory, fs)
await pglite.exec(`INSERT INTO workspace (name) VALUES ('acknowledged')`)
fs.isBroken = true
await pglite.exec(`INSERT INTO workspace (name) VALUES ('lost')`)
writeSync(1, 'acknowledged what was not synced')
