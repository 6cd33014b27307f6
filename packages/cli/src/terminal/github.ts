/** Commands of GitHub Actions, which its runner reads in the output of a step. */
import { relative } from 'node:path'
import { type Io, isOn } from '../io.ts'

export function isInGitHubActions({ env }: Pick<Io, 'env'>): boolean {
  return isOn(env['GITHUB_ACTIONS'])
}

/** @example githubCommand('warning', { title: 'stet' }, 'two\nlines') // '::warning title=stet::two%0Alines\n' */
export function githubCommand(
  kind: string,
  properties: Readonly<Record<string, string | number | null>>,
  message: string,
): string {
  const given = Object.entries(properties).flatMap(([name, value]) =>
    value === null ? [] : `${name}=${escaped(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  )
  return `::${kind} ${given.join(',')}::${escaped(message)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** GitHub resolves paths from the root of the checkout. */
export function githubPath(file: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): string {
  return relative(env['GITHUB_WORKSPACE'] || cwd, file).replaceAll('\\', '/')
}

/** The texts of others may contain what the runner obeys: `##[…]` anywhere, and `::…::` as the first word of a line. */
export function withoutCommands(text: string): string {
  return text.replaceAll('##[', '# #[').replaceAll(/(?<!\S)::/g, ': :')
}
