import { afterAll, beforeAll, it } from 'vitest'
import { count, report, seed, timeFor } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'
import { playMoves } from './move-model.ts'
import { newBench, openWorkbench, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

const sequences = count(6, 1_000)
it('moves equal plain maps after random sequences', { timeout: timeFor(sequences, 10_000) }, async () => {
  for (let sequence = 0; sequence < sequences; sequence += 1) {
    const random = seededRandom(seed + sequence)
    await playMoves(await newBench(workbench), 12, random).catch((error: unknown) => {
      throw new Error(`seed ${seed + sequence}`, { cause: error })
    })
  }
  report('moves', { sequences })
})
