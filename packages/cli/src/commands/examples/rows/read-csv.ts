/** CSV with a header. A cell is text unless `--types` says otherwise, so "007" stays "007". */
import { CsvError, parse } from 'csv-parse/sync'
import { isExact, parseExactJson, whyInexact } from './exact-json.ts'
import { type CellType, type FileRow, RefusedRow } from './row.ts'

export interface CsvOptions {
  /** The field of a column: `expected`, `name`, `tags`, `parameters.<name>`, a parameter, or `-` for none. */
  map: ReadonlyMap<string, string>
  /** By column. */
  types: ReadonlyMap<string, CellType>
}

interface Column {
  header: string
  field: 'expected' | 'name' | 'tags' | 'parameter' | '-'
  parameter: string
  type: CellType
}

export interface CsvRecord {
  line: number
  cells: string[]
}

const reserved = ['expected', 'name', 'tags'] as const

/** @throws RefusedRow */
export function readCsv(file: string, text: string, options: CsvOptions): FileRow[] {
  const [head, ...records] = readRecords(file, text)
  if (!head) throw new RefusedRow(file, 1, 'the file is empty; its first line must name the columns')
  const columns = readHeader(file, head, options)
  return records.map(({ line, cells }) => {
    const refuse = (header: string, message: string) => new RefusedRow(file, line, `column "${header}": ${message}`)
    const parameters: [string, unknown][] = []
    const change: FileRow['change'] = {}
    let name: string | undefined
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? ''
      const { field, type, header } = column
      if (field === '-') continue
      if (/\0|\p{Cs}/u.test(cell)) throw refuse(header, 'has a character that is no text')
      if (field === 'name') name = cell === '' ? undefined : cell
      else if (field === 'tags') change.tags = tagsOf(column, cell, refuse)
      else if (field === 'expected') change.expected = cell === '' ? null : cellValue(column, cell, refuse)
      else if (cell !== '' || type === 'text') parameters.push([column.parameter, cellValue(column, cell, refuse)])
    }
    change.parameters = Object.fromEntries(parameters)
    return { file, line, change, ...(name !== undefined && { name }) }
  })
}

/** @throws RefusedRow with the line of the fault */
export function readRecords(file: string, text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let [end, emptyLines] = [0, 0]
  try {
    parse(text, {
      delimiter: delimiterOf(text),
      skip_empty_lines: true,
      on_record(cells: string[], { lines, empty_lines: empty }) {
        // A cell may have several lines. A row is named by its first one.
        records.push({ line: Math.min(lines, end + 1 + empty - emptyLines), cells })
        end = lines
        emptyLines = empty
        return null
      },
    })
    return records
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    // An open quote is noticed at the end of the file, so the first line of its row is named.
    const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED'
    const line = isOpen ? end + 1 : Number((error as { lines?: number }).lines ?? 1)
    throw new RefusedRow(file, line, explained(error.code, error.message))
  }
}

function explained(code: string, message: string): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed before the end of the file'
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') return 'the number of cells differs from that of the header'
  if (code === 'INVALID_OPENING_QUOTE') return 'a quote inside of an unquoted cell: quote the cell and double the quote'
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'text after a closing quote: write each quote inside a cell twice'
  return message
}

/** Spreadsheets of some languages separate cells by semicolons. The header decides. */
function delimiterOf(text: string): string {
  const head = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/g, '')
  if (head.includes('\t')) return '\t'
  return !head.includes(',') && head.includes(';') ? ';' : ','
}

function readHeader(file: string, { line, cells }: CsvRecord, { map, types }: CsvOptions): Column[] {
  const refuse = (message: string) => new RefusedRow(file, line, message)
  const headers = cells.map((cell) => cell.trim())
  for (const [index, header] of headers.entries()) {
    if (header === '') throw refuse(`column ${index + 1} has no name`)
    if (headers.indexOf(header) !== index) throw refuse(`the column "${header}" appears twice`)
  }
  for (const header of [...map.keys(), ...types.keys()])
    if (!headers.includes(header)) throw refuse(`there is no column "${header}", only ${headers.join(', ')}`)
  const columns = headers.map((header) => columnOf(header, map.get(header) ?? header, types.get(header) ?? 'text'))
  const fields = columns.filter(({ field }) => field !== '-').map(({ field, parameter }) => `${field} ${parameter}`)
  const twice = fields.find((field, index) => fields.indexOf(field) !== index)
  if (twice !== undefined)
    throw refuse(`two columns are mapped to ${twice.replace('parameter ', 'the parameter ').trim()}`)
  return columns
}

function columnOf(header: string, target: string, type: CellType): Column {
  if (target === '-') return { header, field: '-', parameter: '', type }
  const field = reserved.find((name) => name === target)
  if (field) return { header, field, parameter: '', type }
  return { header, field: 'parameter', parameter: target.replace(/^parameters\./, ''), type }
}

type Refuse = (header: string, message: string) => RefusedRow

function cellValue({ type, header }: Column, cell: string, refuse: Refuse): unknown {
  if (type === 'text') return cell
  const text = cell.trim()
  if (type === 'number') {
    if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text))
      throw refuse(header, `"${cell.slice(0, 40)}" is no number`)
    if (isExact(text)) return Number(text)
    throw refuse(header, `"${cell.slice(0, 40)}" ${whyInexact(text)}; import it as text`)
  }
  if (type === 'boolean') {
    if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
    throw refuse(header, `"${cell.slice(0, 40)}" is neither true nor false`)
  }
  return parseExactJson(text, (fault) => refuse(header, fault))
}

function tagsOf(column: Column, cell: string, refuse: Refuse): string[] {
  if (column.type !== 'json') return cell.split(/[,;]/).flatMap((tag) => tag.trim() || [])
  const value = cell.trim() === '' ? [] : cellValue(column, cell, refuse)
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value as string[]
  throw refuse(column.header, 'must be a list of texts')
}
