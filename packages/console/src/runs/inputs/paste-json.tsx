import { useState } from 'react'
import { Button, join } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { TextAreaField } from '../../ui/field.tsx'
import layout from '../../ui/styles/layout.module.css'
import { counted } from '../../ui/time.tsx'
import { draftsOf, type InputDrafts, jsonOf, type PromptInput } from './input-value.ts'
import css from './inputs.module.css'

interface PasteJsonProps {
  inputs: readonly PromptInput[]
  /** The values that the fields hold now, to be copied. */
  parameters: Record<string, unknown>
  onFill: (drafts: InputDrafts) => void
  onClose: () => void
}

/** Fills all inputs from one JSON object. Text that is pasted complete is taken at once. */
export function PasteJson({ inputs, parameters, onFill, onClose }: PasteJsonProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const fill = (given: string) => {
    try {
      onFill(draftsFrom(inputs, given))
      onClose()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  const names = inputs.map(({ name }) => JSON.stringify(name))
  return (
    <form
      className={join(layout['stack'], css['form'])}
      onSubmit={(event) => {
        event.preventDefault()
        fill(text)
      }}
    >
      <TextAreaField
        label="All inputs as JSON"
        mono
        autoFocus
        value={text}
        placeholder={`{ ${names.slice(0, 2).join(': …, ')}: … }`}
        problem={problem}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (text !== '' || !isObject(pasted)) return
          event.preventDefault()
          setText(pasted)
          fill(pasted)
        }}
      />
      <div className={layout['row']}>
        <Button type="submit">Fill in</Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <span className={layout['aside']}>
          <CopyButton text={JSON.stringify(parameters, null, 2)} label="Copy the inputs" />
        </span>
      </div>
    </form>
  )
}

/** @throws Error if the text is not an object with an input of the prompt */
function draftsFrom(inputs: readonly PromptInput[], text: string): InputDrafts {
  const values = jsonOf(text)
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new Error('This is JSON, but not an object with the names of the inputs.')
  const drafts = { ...emptied(inputs, values), ...draftsOf(inputs, values as Record<string, unknown>) }
  if (Object.keys(drafts).length > 0) return drafts
  const given = Object.keys(values)
  throw new Error(
    given.length === 0
      ? 'The object is empty.'
      : `The prompt has no input with ${given.length === 1 ? 'the name' : `one of these ${counted(given.length, 'name')}:`} ${given.slice(0, 5).join(', ')}.`,
  )
}

/** `null` means no value, so the field becomes empty. */
function emptied(inputs: readonly PromptInput[], values: object): InputDrafts {
  const given = new Map(Object.entries(values))
  const named = inputs.filter(({ name }) => given.get(name) === null)
  return Object.fromEntries(named.map(({ name }) => [name, { text: '' }]))
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}
