import type { Readable, Writable } from 'node:stream'
import { CliError } from '../exit-code.ts'
import { escapeControls } from './terminal-style.ts'

export interface Question {
  message: string
  isSecret?: boolean
  initialValue?: string
}

/** @throws CliError usage if the user cancels */
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

export async function askConfirmation(message: string): Promise<boolean> {
  const clack = await import('@clack/prompts')
  const answer = await clack.confirm({ message: escapeControls(message), initialValue: false, ...terminal() })
  if (clack.isCancel(answer)) throw new CliError('usage', 'Canceled')
  return answer
}

export interface Choice {
  value: string
  label: string
}

export async function askChoice(message: string, choices: readonly Choice[]): Promise<string> {
  const clack = await import('@clack/prompts')
  const options = choices.map(({ value, label }) => ({ value, label: escapeControls(label) }))
  const answer = await clack.select({ message: escapeControls(message), options, ...terminal() })
  if (clack.isCancel(answer)) throw new CliError('usage', 'Canceled')
  return answer
}

// Standard output is for data, so questions use standard error.
function terminal(): { input: Readable; output: Writable } {
  return { input: process.stdin, output: process.stderr }
}
