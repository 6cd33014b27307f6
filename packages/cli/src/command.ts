import { defined } from '@stet/template/defined'
import type { Context } from './context.ts'
import { CliError, exitCodes } from './exit-code.ts'
import type { Flag } from './settings/global-flags.ts'

/** Summaries by form: `<name>` is required, `[name]` is not, `[name...]` takes several. */
export type Arguments = Readonly<Record<string, string>>

/**
 * Summaries by form.
 * @example { '--dry-run': '…', '-m, --name <name>': '…', '--file <file>...': '…', '--port <port> $PORT': '…', '--no-pull': '…' }
 */
export type Flags = Readonly<Record<string, string>>

type LongOf<Form> = Form extends `${string}--${infer Long}` ? Long : never
type WordOf<Long> = Long extends `${infer Word} ${string}` ? Word : Long
type NameOf<Word> = Word extends `no-${infer Name}` ? Camel<Name> : Word extends string ? Camel<Word> : never
type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type ValueOf<Form> = Form extends `${string}...`
  ? string[]
  : Form extends `${string}<${string}`
    ? string | undefined
    : boolean

/** What a command line gives a command. `--no-pull` sets `pull`, which is true otherwise. */
export interface Input<Given extends Flags = Record<never, string>> {
  args: readonly string[]
  flags: { readonly [Form in keyof Given & string as NameOf<WordOf<LongOf<Form>>>]: ValueOf<Form> }
}

/** What commander has parsed. */
export interface RawInput {
  args: readonly string[]
  flags: Readonly<Record<string, unknown>>
}

/** `run` is separate from `print`, so that `--json` can print the data that `run` returns. */
export interface CommandDefinition<Given extends Flags, I, D> {
  summary: string
  examples: readonly string[]
  args?: Arguments
  flags?: Given
  /** Validates the input. Sends no request. */
  parse(raw: Input<Given>): I
  /** Returns the data. With `--json`, this data is printed as JSON if `print` is defined. */
  run(input: I, ctx: Context): Promise<D>
  /** Prints the data for humans. Absent if `run` writes its own output. */
  print?(data: D, ctx: Context, input: I): void | Promise<void>
  exitCode?(data: D, input: I): number
}

export interface Command {
  summary: string
  examples: readonly string[]
  args: Arguments
  flags: readonly Flag[]
  execute(raw: RawInput, ctx: Context): Promise<number>
}

/** @example export const command = defineCommand({ summary: 'who is logged in', examples: ['stet whoami'], parse, run, print }) */
export function defineCommand<const Given extends Flags = Record<never, string>, I = unknown, D = unknown>(
  definition: CommandDefinition<Given, I, D>,
): Command {
  const flags = Object.entries(definition.flags ?? {}).map(flagOf)
  return {
    summary: definition.summary,
    examples: definition.examples,
    args: definition.args ?? {},
    flags,
    async execute({ args, flags: given }, ctx) {
      const input = definition.parse({ args, flags: readFlags(flags, given) as Input<Given>['flags'] })
      const data = await definition.run(input, ctx)
      if (definition.print) {
        if (ctx.flags.json) ctx.io.out(`${JSON.stringify(data)}\n`)
        else await definition.print(data, ctx, input)
      }
      return definition.exitCode?.(data, input) ?? exitCodes.success
    },
  }
}

/** @example flagOf(['-m, --name <name>', 'title']) // { short: '-m', long: '--name', value: '<name>', summary: 'title' } */
function flagOf([form, summary]: readonly [string, string]): Flag {
  const [, short, long = '', value, many, variable] =
    /^(?:(-\w), )?(--[\w-]+)(?: (<.+>))?(\.\.\.)?(?: \$(\S+))?$/.exec(form) ?? []
  return { long, summary, ...defined({ short, value, variable, ...(many && { isMany: true }) }) }
}

function readFlags(flags: readonly Flag[], given: RawInput['flags']): Record<string, unknown> {
  // If a command has both `--stream` and `--no-stream`, the second one decides what their absence means.
  const ordered = flags.toSorted((one, other) => Number(isNegated(one)) - Number(isNegated(other)))
  return Object.fromEntries(
    ordered.map((flag) => {
      const name = flag.long.replace(/^--(no-)?/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
      const value = given[name]
      if (flag.isMany) return [name, value ?? []]
      if (flag.value !== undefined) return [name, value]
      return [name, isNegated(flag) ? value !== false : value === true]
    }),
  )
}

function isNegated({ long }: Flag): boolean {
  return long.startsWith('--no-')
}

const secondsOfUnit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** The readers of values pass the absence of a flag on. Their error messages name it. */
type Read<T, Given> = T | Extract<Given, undefined>

/** Parses `30s`, `15m`, `24h`, `90d` or `2w` into seconds. */
export function parseDuration<Given extends string | undefined>(text: Given, flag: string): Read<number, Given> {
  if (text === undefined) return undefined as Read<number, Given>
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = secondsOfUnit[unit]
  if (seconds !== undefined) return Number(count) * seconds
  throw new CliError('usage', `${flag} must be a number with s, m, h, d or w, such as 24h, not "${text}"`)
}

export function positiveInteger<Given extends string | undefined>(
  text: Given,
  flag: string,
  most?: number,
): Read<number, Given> {
  if (text === undefined) return undefined as Read<number, Given>
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= (most ?? 999_999_999)) return Number(text)
  const upTo = most === undefined ? '' : ` up to ${most}`
  throw new CliError('usage', `${flag} must be a positive integer${upTo}, not "${text}"`)
}

export function oneOf<T extends string, Given extends string | undefined>(
  values: readonly T[],
  given: Given,
  flag: string,
): Read<T, Given> {
  const found = values.find((value): boolean => value === (given as string | undefined))
  if (found !== undefined || given === undefined) return found as Read<T, Given>
  throw new CliError('usage', `${flag} must be one of ${values.join(', ')}, not "${given}"`)
}

export interface TableEntry {
  summary: string
  load(): Promise<{ command: Command }>
}
