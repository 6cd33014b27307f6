/** One boot of the machine, which ends with a power cut. Started by power-cut.test.ts. */
import { writeSync } from 'node:fs'
import { requireWholeLog } from '../../../src/durable/log-position.ts'
import { openPglite } from '../../../src/open-pglite.ts'
import { folderOf } from '../database.ts'
import { seededRandom } from '../random.ts'
import { CacheDisk, type CutModel } from './cache-disk.ts'
import { PowerCutFs } from './power-cut-fs.ts'
import { inspect, work } from './workload.ts'

export interface Life {
  directory: string
  ledger: string
  seed: number
  model: CutModel
  /** The event at which the power is cut, counted from the beginning of the start or of the work. 0 means no cut. */
  cutAfter: number
  cutDuring: 'start' | 'work'
  syncs: boolean
  /** True for the server's check of the write-ahead log before the start. */
  checksLog: boolean
}

const life = JSON.parse(process.argv[2] ?? '') as Life
const random = seededRandom(life.seed)
const disk = new CacheDisk(`${life.directory}.graveyard`, life.model, random)
const fs = new PowerCutFs(folderOf(life.directory), { disk, syncs: life.syncs })
if (life.cutDuring === 'start') fs.cutAfter(life.cutAfter)

if (life.checksLog) requireWholeLog(folderOf(life.directory))
const pglite = await openPglite(folderOf(life.directory), fs)
// Written synchronously, because the process may die before a pipe is flushed.
writeSync(1, `${JSON.stringify(await inspect(pglite, life.ledger))}\n`)
if (life.cutDuring === 'work') fs.cutAfter(life.cutAfter)
if (life.cutAfter > 0) await work(pglite, life.ledger, random)
await pglite.close()
