import type { Context } from './context.ts'
import { CliError, exitCodes } from './exit-code.ts'
import type { Flag } from './settings/global-flags.ts'

export interface Argument {
  name: string
  summary: string
  isRequired?: boolean
  isMany?: boolean
}

export interface RawInput {
  args: readonly string[]
  flags: Readonly<Record<string, unknown>>
}

/** `run` is separate from `print`, so that `--json` can print the data that `run` returns. */
export interface CommandDefinition<I, D> {
  summary: string
  examples: readonly string[]
  args?: readonly Argument[]
  flags?: readonly Flag[]
  /** Validates the input. Sends no request. */
  parse(raw: RawInput): I
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
export function defineCommand<I, D>(definition: CommandDefinition<I, D>): Command {
  return {
    summary: definition.summary,
    examples: definition.examples,
    args: definition.args ?? [],
    flags: definition.flags ?? [],
    async execute(raw, ctx) {
      const input = definition.parse(raw)
      const data = await definition.run(input, ctx)
      if (definition.print) {
        if (ctx.flags.json) ctx.io.out(`${JSON.stringify(data)}\n`)
        else await definition.print(data, ctx, input)
      }
      return definition.exitCode?.(data, input) ?? exitCodes.success
    },
  }
}

export function textFlag(raw: RawInput, name: string): string | undefined {
  const value = raw.flags[name]
  return typeof value === 'string' ? value : undefined
}

export function listFlag(raw: RawInput, name: string): string[] {
  const value = raw.flags[name]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export function hasFlag(raw: RawInput, name: string): boolean {
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
