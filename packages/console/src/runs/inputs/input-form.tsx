import { type ChangeEvent, type ClipboardEvent, type ReactNode, useRef, useState } from 'react'
import { Button, join } from '../../ui/button.tsx'
import { bytesOf, isDataUrl, sizeText } from '../../ui/data-url.ts'
import { Field, SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import layout from '../../ui/styles/layout.module.css'
import {
  type InputDraft,
  type InputDrafts,
  largestDataUrl,
  longDraft,
  longestTyped,
  type PromptInput,
} from './input-value.ts'
import css from './inputs.module.css'

interface InputFormProps {
  inputs: readonly PromptInput[]
  drafts: InputDrafts
  /** By the name of the input. */
  problems: Readonly<Record<string, string>>
  onChange: (name: string, draft: InputDraft) => void
}

/** A field for each input of the prompt. */
export function InputForm({ inputs, drafts, problems, onChange }: InputFormProps) {
  return inputs.map((input) => (
    <InputField
      key={input.name}
      input={input}
      draft={drafts[input.name] ?? empty}
      problem={problems[input.name]}
      onChange={(draft) => onChange(input.name, draft)}
    />
  ))
}

const empty: InputDraft = { text: '' }

interface InputFieldProps {
  input: PromptInput
  draft: InputDraft
  problem: string | undefined
  onChange: (draft: InputDraft) => void
}

function InputField({ input, draft, problem, onChange }: InputFieldProps) {
  const { name, kind, description, fallback } = input
  const takesJson = kind === 'json' || draft.isJson
  const texts = {
    label: <span className={css['name']}>{name}</span>,
    note: noteOf(input, draft),
    hint: description,
    problem,
  }
  const placeholder = fallback === undefined || fallback === null ? undefined : `Default: ${textOf(fallback)}`
  const onText = (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) =>
    onChange({ text: event.target.value, ...(draft.isJson && { isJson: true }) })
  // A browser takes minutes to insert such a text into a field, and lays it out again for every key.
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const text = event.clipboardData.getData('text')
    if (text.length <= longestTyped) return
    event.preventDefault()
    onChange({ ...longDraft(text), ...(draft.isJson && { isJson: true }) })
  }
  const control = { ...texts, value: draft.text, placeholder, onChange: onText }
  const field = () => {
    const takesFile = kind === 'image' || kind === 'file'
    if (draft.file && !takesFile)
      return <Field {...texts}>{({ id }) => <ChosenFile {...{ draft, id }} onRemove={() => onChange(empty)} />}</Field>
    if (takesJson) return <TextAreaField {...control} mono onPaste={onPaste} />
    if (takesFile) return <FileField {...{ input, draft, texts, onChange }} />
    if (kind === 'number') return <TextField {...control} mono inputMode="decimal" />
    if (kind === 'text') return <TextAreaField {...control} rows={1} onPaste={onPaste} />
    return (
      <SelectField {...texts} value={draft.text} onChange={onText}>
        <option value="">{placeholder ?? 'Not set'}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </SelectField>
    )
  }
  return (
    <div className={css['input']}>
      {field()}
      {kind !== 'json' && !draft.file && (
        <Button
          look="quiet"
          className={css['asJson']}
          aria-pressed={Boolean(draft.isJson)}
          title={draft.isJson ? 'The field holds JSON' : 'Enter a list or an object as JSON'}
          aria-label={`${name} as JSON`}
          onClick={() => onChange(draft.isJson ? { text: draft.text } : { text: draft.text, isJson: true })}
        >
          {'{ }'}
        </Button>
      )}
    </div>
  )
}

interface FileFieldProps {
  input: PromptInput
  draft: InputDraft
  texts: { label: ReactNode; note: ReactNode; hint: ReactNode; problem: ReactNode }
  onChange: (draft: InputDraft) => void
}

/** An address, or a file of this computer, which is sent as a data URL. */
function FileField({ input, draft, texts, onChange }: FileFieldProps) {
  const chooser = useRef<HTMLInputElement>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0]
    event.target.value = ''
    if (!file) return
    // Base64 needs 4 characters for 3 bytes.
    const size = Math.ceil(file.size / 3) * 4
    if (size > largestDataUrl) {
      setRefusal(
        `${file.name} is ${sizeText(file.size)}. A run accepts files up to ${sizeText((largestDataUrl * 3) / 4)}.`,
      )
      return
    }
    setRefusal(null)
    onChange({ text: await dataUrlOf(file), file: { name: file.name, bytes: file.size } })
  }
  return (
    <Field {...texts} problem={refusal ?? texts.problem}>
      {(control) => (
        <div className={css['file']}>
          {draft.file ? (
            <ChosenFile
              {...{ draft, id: control.id }}
              isImage={input.kind === 'image'}
              onRemove={() => onChange(empty)}
            />
          ) : (
            <>
              <input
                type="url"
                autoComplete="off"
                placeholder="https://…"
                value={draft.text}
                onChange={(event) => {
                  setRefusal(null)
                  onChange(typed(event.target.value))
                }}
                {...control}
              />
              <Button onClick={() => chooser.current?.click()}>Choose a file</Button>
            </>
          )}
          <input
            ref={chooser}
            type="file"
            hidden
            aria-label={`File for ${input.name}`}
            accept={input.kind === 'image' ? 'image/*' : undefined}
            onChange={choose}
          />
        </div>
      )}
    </Field>
  )
}

interface ChosenFileProps {
  draft: InputDraft
  id: string
  isImage?: boolean
  onRemove: () => void
}

function ChosenFile({ draft, id, isImage, onRemove }: ChosenFileProps) {
  const { name = 'file', bytes = 0 } = draft.file ?? {}
  return (
    <div className={css['chosen']}>
      {isImage && <img className={css['thumb']} src={draft.text} alt="" />}
      <span className={join(layout['cut'], css['fileName'])}>{name}</span>
      <span className={layout['faint']}>{sizeText(bytes)}</span>
      <Button id={id} look="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </Button>
    </div>
  )
}

/** A pasted data URL becomes a file: a field with millions of characters is slow. */
function typed(text: string): InputDraft {
  return isDataUrl(text) ? { text, file: { name: 'pasted file', bytes: bytesOf(text) } } : { text }
}

function noteOf({ declared, isRequired, kind }: PromptInput, { isJson }: InputDraft): string {
  const type = isJson && kind !== 'json' ? 'JSON' : (declared ?? 'not declared')
  return isRequired ? `${type} · required` : type
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })
}
