/** Reads what a configuration refers to. Only files below its folder are read. */
import { realpath } from 'node:fs/promises'
import { extname, isAbsolute, relative, resolve, sep } from 'node:path'
import { LineCounter, parseDocument, visit } from 'yaml'
import { isJsonObject } from '../../../settings/json-file.ts'
import { inexact, isExact } from '../rows/exact-json.ts'
import { textOf } from '../rows/read-file.ts'
import { RefusedRow } from '../rows/row.ts'

export interface Source {
  value: unknown
  file: string
  /** The line of a value inside. */
  lineAt(path: readonly (string | number)[]): number
}

export interface Place {
  file: string
  line: number
}

export type Fields = Readonly<Record<string, unknown>>

export interface Test extends Place {
  value: Fields
}

/** Something that a row cannot have. It becomes a loss. */
export class Lost extends Error {
  readonly needsJudge: boolean

  constructor(message: string, needsJudge = false) {
    super(message)
    this.needsJudge = needsJudge
  }
}

const programs = /\.(js|cjs|mjs|ts|cts|mts|py|rb|sh|wasm)(:|$)/i
const media = /\.(png|jpe?g|gif|webp|svg|pdf|mp3|wav|mp4)$/i

export class Files {
  readonly #folder: string
  /** The folder as messages show it, with a slash at its end. */
  readonly #shown: string

  constructor(folder: string, configuration: string) {
    this.#folder = folder
    this.#shown = configuration.replace(/[^/]*$/, '')
  }

  /**
   * Reads a file: parsed if it is YAML or JSON, otherwise as text.
   * @param reference with or without `file://`, relative to the folder
   * @throws Lost for a program; RefusedRow for a file outside of the folder, and for one that cannot be read
   */
  async read(reference: string, from: Place): Promise<Source> {
    const path = reference.replace(/^file:\/\//, '')
    if (programs.test(path)) throw new Lost(`${path} is a program`)
    if (media.test(path)) throw new Lost(`${path} is no text`)
    if (/[*?[\]{}]/.test(path)) throw new Lost(`${path} is a pattern of files; name each file`)
    const place = await this.#placeOf(path, from)
    const shown = this.#shown + relative(this.#folder, resolve(this.#folder, path)).split(sep).join('/')
    const text = await textOf(place, shown)
    return /\.(ya?ml|json)$/i.test(extname(path))
      ? parseYaml(shown, text)
      : { value: text, file: shown, lineAt: () => 1 }
  }

  /** A link may lead outside of the folder. */
  async #placeOf(path: string, { file, line }: Place): Promise<string> {
    try {
      const [folder, place] = await Promise.all([realpath(this.#folder), realpath(resolve(this.#folder, path))])
      const below = relative(folder, place)
      if (below.startsWith('..') || isAbsolute(below))
        throw new RefusedRow(file, line, `${path} is outside of the folder`)
      return place
    } catch (error) {
      if (isJsonObject(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR'))
        throw new RefusedRow(file, line, `${path} does not exist`)
      throw error
    }
  }
}

/** Infinite numbers are read: only a row that has one is refused. @throws RefusedRow */
export function parseYaml(file: string, text: string): Source {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, merge: true })
  const refuse = (offset: number, message: string) =>
    new RefusedRow(file, counter.linePos(offset).line, (message.split('\n')[0] ?? '').replace(/ at line \d.*/, ''))
  const [error] = document.errors
  if (error) throw refuse(error.pos[0], error.message)
  visit(document, {
    Scalar(_key, { value, source = '', range }) {
      if (Number.isFinite(value) && !isExact(source)) throw refuse(range?.[0] ?? 0, inexact(source))
    },
  })
  try {
    return {
      value: document.toJS({ maxAliasCount: 1_000 }),
      file,
      lineAt(path) {
        const node = document.getIn(path, true)
        const { range } = Object(node) as { range?: readonly number[] }
        return range ? counter.linePos(range[0] ?? 0).line : 1
      },
    }
  } catch (problem) {
    throw refuse(0, (problem as Error).message)
  }
}
