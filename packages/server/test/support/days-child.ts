/** Sums the ended days of all projects again and again until it is killed. Started by stats-kill.test.ts. */
import { postgresStatsStore } from '../../src/adapters/database/stores/stats-store.ts'
import { createStatsDeps } from '../../src/features/stats/pieces.ts'
import { storeDays } from '../../src/features/stats/store-days.ts'
import { openTestDatabase, silent } from './database-open.ts'

const { session } = await openTestDatabase(JSON.parse(process.argv[2] ?? '') as { dataDir: string })
const stats = createStatsDeps(postgresStatsStore(session), (_asker, work) => work())
// The pauses between days do not keep a process alive.
setInterval(() => undefined, 1_000)
process.stdout.write('summing\n')
for (;;) await storeDays({ stats, logger: silent }, new AbortController().signal)
