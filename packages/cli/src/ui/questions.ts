import type { Readable, Writable } from 'node:stream'
import { CliError } from '../exit-code.ts'
import { escapeControls } from './style/terminal-text.ts'

/** One question; the context asks it only when somebody is there to answer. */
export interface Question {
  message: string
  isSecret?: boolean
  initialValue?: string
}

/** Asks for a line of text; a cancelled question is a usage failure. */
export async function askText(question: Question): Promise<string> {
  const clack = await import('@clack/prompts')
  const ends = terminal()
  const message = escapeControls(question.message)
  const answer = question.isSecret
    ? await clack.password({ message, ...ends })
    : await clack.text({
        message,
        ...(question.initialValue !== undefined && { initialValue: escapeControls(question.initialValue) }),
        ...ends,
      })
  if (clack.isCancel(answer)) throw new CliError('usage', 'Canceled')
  return answer ?? ''
}

/** Asks for yes or no; no is the default. */
export async function askConfirmation(message: string): Promise<boolean> {
  const clack = await import('@clack/prompts')
  const answer = await clack.confirm({ message: escapeControls(message), initialValue: false, ...terminal() })
  if (clack.isCancel(answer)) throw new CliError('usage', 'Canceled')
  return answer
}

/** One answer of a choice. */
export interface Choice {
  value: string
  label: string
}

/** Asks for one of several. */
export async function askChoice(message: string, choices: readonly Choice[]): Promise<string> {
  const clack = await import('@clack/prompts')
  const options = choices.map(({ value, label }) => ({ value, label: escapeControls(label) }))
  const answer = await clack.select({ message: escapeControls(message), options, ...terminal() })
  if (clack.isCancel(answer)) throw new CliError('usage', 'Canceled')
  return answer
}

// Standard output belongs to data, also while asking.
function terminal(): { input: Readable; output: Writable } {
  return { input: process.stdin, output: process.stderr }
}
