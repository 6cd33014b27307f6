import type { Context } from './context.ts'
import { CliError, exitCodes } from './exit-code.ts'
import type { Flag, FlagName } from './settings/global-flags.ts'

export interface Argument {
  name: string
  summary: string
  isRequired?: boolean
  isMany?: boolean
}

/** @typeParam Name the flags that a command has, see {@link FlagName} */
export interface RawInput<Name extends string = string> {
  args: readonly string[]
  flags: Readonly<Record<Name, unknown>>
}

/** `run` is separate from `print`, so that `--json` can print the data that `run` returns. */
export interface CommandDefinition<Flags extends readonly Flag[], I, D> {
  summary: string
  examples: readonly string[]
  args?: readonly Argument[]
  flags?: Flags
  /** Validates the input. Sends no request. */
  parse(raw: RawInput<FlagName<Flags>>): I
  /** Returns the data. With `--json`, this data is printed as JSON if `print` is defined. */
  run(input: I, ctx: Context): Promise<D>
  /** Prints the data for humans. Absent if `run` writes its own output. */
  print?(data: D, ctx: Context, input: I): void | Promise<void>
  exitCode?(data: D, input: I): number
}

export interface Command {
  summary: string
  examples: readonly string[]
  args: readonly Argument[]
  flags: readonly Flag[]
  execute(raw: RawInput, ctx: Context): Promise<number>
}

/** @example export const command = defineCommand({ summary: 'who is logged in', examples: ['stet whoami'], parse, run, print }) */
export function defineCommand<const Flags extends readonly Flag[] = [], I = unknown, D = unknown>(
  definition: CommandDefinition<Flags, I, D>,
): Command {
  return {
    summary: definition.summary,
    examples: definition.examples,
    args: definition.args ?? [],
    flags: definition.flags ?? [],
    async execute(raw, ctx) {
      // The program parses the flags of the definition only.
      const input = definition.parse(raw as RawInput<FlagName<Flags>>)
      const data = await definition.run(input, ctx)
      if (definition.print) {
        if (ctx.flags.json) ctx.io.out(`${JSON.stringify(data)}\n`)
        else await definition.print(data, ctx, input)
      }
      return definition.exitCode?.(data, input) ?? exitCodes.success
    },
  }
}

export function textFlag<Name extends string>(raw: RawInput<Name>, name: NoInfer<Name>): string | undefined {
  const value: unknown = raw.flags[name]
  return typeof value === 'string' ? value : undefined
}

export function listFlag<Name extends string>(raw: RawInput<Name>, name: NoInfer<Name>): string[] {
  const value: unknown = raw.flags[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export function hasFlag<Name extends string>(raw: RawInput<Name>, name: NoInfer<Name>): boolean {
  return raw.flags[name] === true
}

const secondsOfUnit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses `30s`, `15m`, `24h`, `90d` or `2w` into seconds. The error message names `flag`. */
export function parseDuration(text: string, flag: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = secondsOfUnit[unit]
  if (seconds !== undefined) return Number(count) * seconds
  throw new CliError('usage', `${flag} must be a number with s, m, h, d or w, such as 24h, not "${text}"`)
}

export interface TableEntry {
  summary: string
  load(): Promise<{ command: Command }>
}
