import { resolve } from 'node:path'
import type { ChangedExamples } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { oneLine, shownFile } from '../../terminal/output.ts'
import { findPrompt } from './find-prompt.ts'
import type { CsvOptions } from './rows/read-csv.ts'
import { mostRows, readRows } from './rows/read-rows.ts'
import { type CellType, cellTypes, isUnchanged, type Loss, type NamedRow } from './rows/row.ts'
import { sendRows, type Target } from './rows/send-rows.ts'

interface Imported extends ChangedExamples {
  path: string
  /** Names of deleted rows. With `--dry-run`, of those that would be deleted. */
  left: string[]
  losses: Loss[]
}

const mostWarnings = 5

export const command = defineCommand({
  summary: 'Saves the rows of a file as examples of a prompt. The name is the key, so repeating changes nothing.',
  examples: [
    'stet examples import rows.csv support/refund',
    'stet examples import rows.csv support/refund --map Question:ticket,Answer:expected,Notes:- --types amount:number',
    'stet examples import rows.jsonl support/refund --sync',
    'stet examples import promptfooconfig.yaml support/refund --dry-run',
  ],
  args: {
    '<file>': 'CSV, JSON Lines, or the YAML of promptfoo',
    '<path>': 'the path of the prompt',
  },
  flags: {
    '--map <column:field,…>': 'CSV: a parameter, expected, name, tags, or - to leave the column out',
    '--types <column:type,…>': `CSV: ${cellTypes.join(', ')}; cells are text otherwise`,
    '--sync': 'delete the examples that the file lacks',
    '--dry-run': 'change nothing',
  },
  parse(raw) {
    const [file = '', path = ''] = raw.args
    const types = new Map<string, CellType>()
    for (const [column, name] of pairsOf(raw.flags.types, '--types')) {
      const type = cellTypes.find((one) => one === name)
      if (!type) throw new CliError('usage', `Unknown type: ${name}`, { hint: `use one of ${cellTypes.join(', ')}` })
      types.set(column, type)
    }
    const csv: CsvOptions = { map: pairsOf(raw.flags.map, '--map'), types }
    return { file, path, csv, isSync: raw.flags.sync, isDry: raw.flags.dryRun }
  },
  async run({ file, path, csv, isSync, isDry }, ctx): Promise<Imported> {
    const place = resolve(ctx.io.cwd, file)
    const { rows, losses } = await readRows({ file: place, shown: shownFile(place, ctx.io.cwd) }, csv)
    const target = await findPrompt(path, ctx)
    warnOfStrangers(rows, target, ctx)
    const names = new Set(rows.map(({ name }) => name))
    const stored = await target.client.examples.list(target.documentUuid, {
      projectId: target.projectId,
      summary: true,
    })
    const left = isSync ? stored.filter(({ name }) => !names.has(name)) : []
    const shown = { path: target.path, left: left.map(({ name }) => name), losses }
    if (isDry) return { ...shown, ...(await preview(target, rows)), deleted: left.length }
    for (const { name } of left) ctx.say(`deletes ${oneLine(name)}`)
    const known = new Set(stored.map(({ name }) => name))
    const added = rows.filter(({ name }) => !known.has(name)).length
    const rest = { deleted: left.map(({ uuid }) => uuid), deletesFirst: stored.length + added > mostRows }
    return { ...shown, ...(await sendRows(target, rows, rest)) }
  },
  print({ added, modified, unchanged, deleted, losses, left }, { io, say, style, program }, { isDry, path }) {
    for (const { file, line, name, message } of losses) {
      const of = name === null ? '' : ` ${JSON.stringify(name)}`
      say(`${style.warn} ${oneLine(`${file}:${line}${of}: ${message}`)}`)
    }
    if (isDry) for (const name of left) io.out(`would delete\t${oneLine(name)}\n`)
    const counts = `${added} added, ${modified} modified, ${unchanged} unchanged, ${deleted} deleted`
    const suffix = losses.length > 0 ? ` · ${losses.length} ${losses.length === 1 ? 'loss' : 'losses'}` : ''
    say(`${style.ok} ${isDry ? 'would be ' : ''}${counts}${suffix}`)
    if (!isDry && added + modified > 0) say(`  Next:  ${program} eval ${path}`)
  },
})

/** A column with a typing error becomes a parameter, which the prompt does not read. */
function warnOfStrangers(
  rows: readonly NamedRow[],
  { path, parameters }: { path: string; parameters: readonly string[] | undefined },
  { warn }: Context,
): void {
  if (parameters === undefined) return
  const columns = new Set(rows.flatMap(({ change }) => Object.keys(change.parameters ?? {})))
  const strangers = [...columns].filter((column) => !parameters.includes(column))
  if (strangers.length > mostWarnings)
    warn(`${strangers.length} columns are not parameters of ${path}; they are imported as such`)
  else
    for (const column of strangers)
      warn(oneLine(`column ${column} is not a parameter of ${path}; it is imported as one`))
}

/** Compares with the examples as they are. */
async function preview(
  { client, documentUuid, projectId }: Target,
  rows: readonly NamedRow[],
): Promise<Omit<ChangedExamples, 'deleted'>> {
  const stored = new Map((await client.examples.list(documentUuid, { projectId })).map((row) => [row.name, row]))
  const counts = { added: 0, modified: 0, unchanged: 0 }
  for (const { name, change } of rows) {
    const row = stored.get(name)
    counts[row ? (isUnchanged(row, change) ? 'unchanged' : 'modified') : 'added'] += 1
  }
  return counts
}

/** Parses `column:field,column:field`. A column may have colons. */
function pairsOf(text: string | undefined, flag: string): Map<string, string> {
  const pairs = (text ?? '').split(',').flatMap((pair): [string, string][] => {
    if (pair.trim() === '') return []
    const colon = pair.lastIndexOf(':')
    const [column, target] = [pair.slice(0, Math.max(colon, 0)).trim(), pair.slice(colon + 1).trim()]
    if (column === '' || target === '') throw new CliError('usage', `${flag} has column:value pairs, not "${pair}"`)
    return [[column, target]]
  })
  return new Map(pairs)
}
