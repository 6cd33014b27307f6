import type { MessagePort } from 'node:worker_threads'
import type { PGlite } from '@electric-sql/pglite'
import type { SqlQueryable, SqlResultSet } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import type { SqlSession } from '../../sql-session.ts'
import { backUp } from '../backup/backup.ts'
import { prepareDirectory } from '../directory/first-start.ts'
import { DurableFs } from '../durable/durable-fs.ts'
import { openPglite } from '../open-pglite.ts'
import { carryError } from './carried-error.ts'
import { type HeldTransactions, holdTransactions } from './held-transactions.ts'
import type { Answer, Input, Output, Request, TaskName } from './messages.ts'
import { pgliteQueries, pgliteSession } from './pglite-session.ts'
import { bytesOf } from './transfer.ts'

interface OpenDatabase {
  directory: string
  pglite: PGlite
  session: SqlSession
  prisma: SqlQueryable
  transactions: HeldTransactions
}

type Handlers = { [Name in TaskName]: (input: Input<Name>) => Promise<Output<Name>> }

/** Answers requests on `port` with the database that the first of them opens. The statements run in the order they came in. */
export function serveDatabase(port: MessagePort, createFs = (directory: string) => new DurableFs(directory)): void {
  let fs: DurableFs | undefined
  let opened: OpenDatabase | undefined
  const database = (): OpenDatabase => {
    if (!opened) throw new Error('The embedded database is not open')
    return opened
  }
  const handlers: Handlers = {
    ...statementHandlers(database),
    async open({ directory, template, program }) {
      await prepareDirectory(directory, template)
      fs = createFs(directory)
      opened = await useDatabase(directory, await openPglite(directory, fs, program))
    },
    backup: ({ file }) => backUp(database().pglite, database().directory, file),
    ping: () => Promise.resolve(),
    close: () => database().pglite.close(),
  }
  port.on('message', ({ id, task, input }: Request) => {
    const answer = (message: Partial<Answer>, buffers: ArrayBuffer[] = []) => {
      const whole: Answer = { id, syncs: fs?.syncCount ?? 0, ...message }
      port.postMessage(whole, buffers)
    }
    const handle = handlers[task] as (input: unknown) => Promise<unknown>
    handle(input)
      .then((output) => answer({ output }, task === 'prismaQuery' ? bytesOf(output as SqlResultSet) : []))
      .catch((error: unknown) => answer({ error: carryError(error) }))
  })
}

async function useDatabase(directory: string, pglite: PGlite): Promise<OpenDatabase> {
  return {
    directory,
    pglite,
    session: pgliteSession(pglite),
    prisma: await new PrismaPGlite(pglite).connect(),
    transactions: holdTransactions(pglite),
  }
}

type StatementTask = Exclude<TaskName, 'open' | 'backup' | 'ping' | 'close'>

function statementHandlers(database: () => OpenDatabase): Pick<Handlers, StatementTask> {
  const queriesOf = (transaction: number | undefined) =>
    transaction === undefined ? database().session : pgliteQueries(database().transactions.handleOf(transaction))
  const prismaOf = async (transaction: number | undefined) => {
    if (transaction === undefined) return database().prisma
    // The adapter uses nothing but `query` of it here.
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
