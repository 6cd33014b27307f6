import type { MessagePort } from 'node:worker_threads'
import type { PGlite } from '@electric-sql/pglite'
import { ColumnTypeEnum, type SqlQueryable, type SqlResultSet } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { backUp } from '../backup/backup.ts'
import { backupReader } from '../backup/backup-reader.ts'
import type { DatabaseFolder } from '../directory/database-folder.ts'
import { prepareDirectory } from '../directory/first-start.ts'
import { DurableFs } from '../durable/durable-fs.ts'
import { requireWholeLog } from '../durable/log-position.ts'
import { openPglite } from '../open-pglite.ts'
import type { SqlSession } from '../sql-session.ts'
import { carryError } from './carried-error.ts'
import { type HeldTransactions, holdTransactions } from './held-transactions.ts'
import type { Answer, Input, Output, Request, TaskName } from './messages.ts'
import { pgliteQueries, pgliteSession } from './pglite-session.ts'
import { collectResultCopies } from './result-copies.ts'

interface OpenDatabase {
  folder: DatabaseFolder
  pglite: PGlite
  session: SqlSession
  prisma: SqlQueryable
  transactions: HeldTransactions
}

type Handlers = { [Name in TaskName]: (input: Input<Name>) => Promise<Output<Name>> }

/** Starts each request on `port` when it arrives. The first request must be `open`. */
export function serveDatabase(port: MessagePort, createFs = (folder: DatabaseFolder) => new DurableFs(folder)): void {
  let fs: DurableFs | undefined
  let opened: OpenDatabase | undefined
  const database = (): OpenDatabase => {
    if (!opened) throw new Error('The embedded database is not open')
    return opened
  }
  const backups = backupReader(database)
  const collectCopies = collectResultCopies()
  const handlers: Handlers = {
    ...statementHandlers(database),
    async open({ folder, program, acceptedLoss, ...input }) {
      await prepareDirectory(folder, input)
      const lostAfter = requireWholeLog(folder, acceptedLoss)
      fs = createFs(folder)
      opened = await useDatabase(folder, await openPglite(folder, fs, program))
      return lostAfter
    },
    backup: ({ file }) => backUp(database().pglite, database().folder, file),
    readBackup: () => backups.read(),
    endBackup: () => backups.end(),
    ping: () => Promise.resolve(),
    close: () => database().pglite.close(),
  }
  port.on('message', ({ id, task, input }: Request) => {
    const answer = (message: Partial<Answer>, buffers: ArrayBuffer[] = []) => {
      const whole: Answer = { id, syncs: fs?.syncCount ?? 0, ...message }
      port.postMessage(whole, buffers)
      collectCopies()
    }
    const handle = handlers[task] as (input: unknown) => Promise<unknown>
    handle(input)
      .then((output) => answer({ output }, task === 'prismaQuery' ? bytesOf(output as SqlResultSet) : []))
      .catch((error: unknown) => answer({ error: carryError(error) }))
  })
}

async function useDatabase(folder: DatabaseFolder, pglite: PGlite): Promise<OpenDatabase> {
  return {
    folder,
    pglite,
    session: pgliteSession(pglite),
    prisma: await new PrismaPGlite(pglite).connect(),
    transactions: holdTransactions(pglite),
  }
}

type StatementTask = Exclude<TaskName, 'open' | 'backup' | 'readBackup' | 'endBackup' | 'ping' | 'close'>

function statementHandlers(database: () => OpenDatabase): Pick<Handlers, StatementTask> {
  const queriesOf = (transaction: number | undefined) =>
    transaction === undefined ? database().session : pgliteQueries(database().transactions.handleOf(transaction))
  const prismaOf = async (transaction: number | undefined) => {
    if (transaction === undefined) return database().prisma
    // The adapter uses only `query` here.
    return new PrismaPGlite(database().transactions.handleOf(transaction) as unknown as PGlite).connect()
  }
  return {
    query: async ({ sql, params, transaction }) => queriesOf(transaction).query(sql, params),
    script: async ({ sql, transaction }) => queriesOf(transaction).script(sql),
    batch: async (statements) => database().session.batch(statements),
    prismaQuery: async ({ query, transaction }) => (await prismaOf(transaction)).queryRaw(query),
    prismaExecute: async ({ query, transaction }) => (await prismaOf(transaction)).executeRaw(query),
    begin: async () => database().transactions.begin(),
    commit: async (id) => database().transactions.commit(id),
    rollback: async (id) => database().transactions.rollback(id),
  }
}

/** Collects the adapter's byte buffers, which are then transferred instead of copied. */
function bytesOf({ columnTypes, rows }: SqlResultSet): ArrayBuffer[] {
  const places = [...columnTypes.keys()].filter((place) => columnTypes[place] === ColumnTypeEnum.Bytes)
  return rows.flatMap((row) =>
    places.flatMap((place) => {
      const value = row[place]
      return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []
    }),
  )
}
