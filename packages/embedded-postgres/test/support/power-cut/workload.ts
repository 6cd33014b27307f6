import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import type { Random } from '../random.ts'

const ACCOUNTS = 20
const TRANSACTIONS = 400

export interface Findings {
  acknowledged: number
  lost: number[]
  /** All other damage: torn rows, partial transactions, inconsistent sums. */
  damage: string[]
}

export async function createTables(pglite: PGlite): Promise<void> {
  await pglite.exec(`
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, note text);
    INSERT INTO account SELECT i, 0, '' FROM generate_series(0, ${ACCOUNTS - 1}) i;
    CREATE TABLE entry (transaction int, part int, parts int, account int, amount int, payload text, checksum text,
      PRIMARY KEY (transaction, part));
    CREATE INDEX entry_account ON entry (account, amount);
  `)
}

/** Records each acknowledged transaction in the ledger. Mixes in checkpoints, vacuums and new tables. */
export async function work(pglite: PGlite, ledger: string, random: Random): Promise<void> {
  const { rows } = await pglite.query<{ next: number }>('SELECT coalesce(max(transaction), 0) + 1 AS next FROM entry')
  // A lost transaction's number must not be reused, or its loss would go unnoticed.
  const first = Math.max(rows[0]?.next ?? 1, ...readLedger(ledger).map((number) => number + 1))
  for (let transaction = first; transaction < first + TRANSACTIONS; transaction++) {
    await writeTransaction(pglite, transaction, random)
    appendFileSync(ledger, `${transaction}\n`)
    const dice = random()
    if (dice < 0.02) await pglite.exec('CHECKPOINT')
    else if (dice < 0.03) await pglite.exec('VACUUM ANALYZE')
    else if (dice < 0.05) await pglite.exec(`DROP TABLE IF EXISTS passing; CREATE TABLE passing AS SELECT * FROM entry`)
  }
}

async function writeTransaction(pglite: PGlite, transaction: number, random: Random): Promise<void> {
  const parts = 1 + Math.floor(random() * 4)
  await pglite.transaction(async (queries) => {
    for (let part = 0; part < parts; part++) {
      const account = Math.floor(random() * ACCOUNTS)
      const amount = Math.floor(random() * 1000)
      const payload = `${transaction}.${part}.`.repeat(1 + Math.floor(random() * 300))
      await queries.query('INSERT INTO entry VALUES ($1, $2, $3, $4, $5, $6, md5($6))', [
        ...[transaction, part, parts, account, amount, payload],
      ])
      await queries.query('UPDATE account SET balance = balance + $2, note = $3 WHERE id = $1', [
        ...[account, amount, payload.slice(0, 100)],
      ])
    }
  })
}

export async function inspect(pglite: PGlite, ledger: string): Promise<Findings> {
  const acknowledged = readLedger(ledger)
  const { rows } = await pglite.query<{ transaction: number; whole: boolean; intact: boolean }>(`
    SELECT transaction, count(*) = max(parts) AS whole, bool_and(md5(payload) = checksum) AS intact
    FROM entry GROUP BY transaction`)
  const stored = new Set(rows.map((row) => row.transaction))
  const { rows: accounts } = await pglite.query<{ id: number }>(`
    SELECT account.id FROM account LEFT JOIN entry ON entry.account = account.id
    GROUP BY account.id HAVING balance <> coalesce(sum(amount), 0)`)
  const damage = [
    ...rows.filter((row) => !row.whole).map((row) => `transaction ${row.transaction} is stored in part`),
    ...rows.filter((row) => !row.intact).map((row) => `transaction ${row.transaction} has a torn row`),
    ...accounts.map((row) => `account ${row.id} does not have the sum of its entries`),
  ]
  return { acknowledged: acknowledged.length, lost: acknowledged.filter((number) => !stored.has(number)), damage }
}

function readLedger(ledger: string): number[] {
  if (!existsSync(ledger)) return []
  // The last line has no line feed if the power cut interrupted it.
  return readFileSync(ledger, 'utf8').split('\n').slice(0, -1).map(Number)
}
