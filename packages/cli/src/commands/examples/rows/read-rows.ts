import { dirname, extname } from 'node:path'
import { CliError } from '../../../exit-code.ts'
import { isMissing } from '../../../settings/json-file.ts'
import type { CsvOptions } from './read-csv.ts'
import { textOf } from './read-file.ts'
import { type NamedRow, nameRows, type ReadRows, RefusedRow } from './row.ts'

/** The limit of the server. */
export const mostRows = 1_000

const formats = '.csv, .tsv, .jsonl, .ndjson, .yaml or .yml (promptfoo)'

/**
 * Reads rows, in the format that the ending names.
 * @param file absolute
 * @param shown the file in messages
 * @throws CliError with file and line
 */
export async function readRows(
  { file, shown }: { file: string; shown: string },
  csv: CsvOptions,
): Promise<{ rows: NamedRow[] } & Pick<ReadRows, 'losses'>> {
  try {
    const { rows, losses } = await readAs(extname(file).toLowerCase(), { file, shown }, csv)
    if (rows.length === 0) throw new CliError('invalid', `${shown} has no rows`)
    const surplus = rows[mostRows]
    if (surplus) throw new RefusedRow(surplus.file, surplus.line, `a prompt has at most ${mostRows} examples`)
    return { rows: nameRows(rows), losses }
  } catch (error) {
    if (error instanceof RefusedRow) throw new CliError('invalid', `${error.file}:${error.line}: ${error.message}`)
    if (isMissing(error)) throw new CliError('not_found', `File not found: ${shown}`)
    throw error
  }
}

async function readAs(
  ending: string,
  { file, shown }: { file: string; shown: string },
  csv: CsvOptions,
): Promise<ReadRows> {
  if (ending === '.csv' || ending === '.tsv') {
    const { readCsv } = await import('./read-csv.ts')
    return { rows: readCsv(shown, await textOf(file, shown), csv), losses: [] }
  }
  if (csv.map.size + csv.types.size > 0) throw new CliError('usage', '--map and --types are for CSV files')
  if (ending === '.jsonl' || ending === '.ndjson') {
    const { readJsonl } = await import('./read-jsonl.ts')
    return { rows: readJsonl(shown, await textOf(file, shown)), losses: [] }
  }
  if (ending === '.yaml' || ending === '.yml') {
    const { readPromptfoo } = await import('../promptfoo/read-promptfoo.ts')
    return readPromptfoo({ folder: dirname(file), shown, text: await textOf(file, shown) })
  }
  throw new CliError('usage', `Unknown kind of file: ${shown}`, { hint: `use ${formats}` })
}
