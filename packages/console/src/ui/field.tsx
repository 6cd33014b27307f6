import { type ComponentProps, type ReactNode, useId } from 'react'
import { join } from './button.tsx'
import css from './styles/controls.module.css'

interface Described {
  label: ReactNode
  /** Beside the label: type, "optional", a limit. */
  note?: ReactNode
  /** Below the control: what the value is for. */
  hint?: ReactNode
  /** Why the value is refused. Show each of the server's `details.issues` at its field. */
  problem?: ReactNode
}

interface Control {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
  className: string
}

interface FieldProps extends Described {
  className?: string | undefined
  children: (control: Control) => ReactNode
}

/** A label, one control and its texts. The control is made by `children`, which receives the ids that connect them. */
export function Field({ label, note, hint, problem, className, children }: FieldProps) {
  const id = useId()
  const control: Control = {
    id,
    'aria-describedby': hint || problem ? `${id}-text` : undefined,
    'aria-invalid': problem ? true : undefined,
    className: join(css['input'], className),
  }
  return (
    <div className={css['field']}>
      <label className={css['label']} htmlFor={id}>
        {label}
        {note && <span className={css['note']}>{note}</span>}
      </label>
      {children(control)}
      {(hint || problem) && (
        <p id={`${id}-text`} className={problem ? css['problem'] : css['note']}>
          {problem || hint}
        </p>
      )}
    </div>
  )
}

type Native<Tag extends 'input' | 'textarea' | 'select'> = Omit<ComponentProps<Tag>, 'id' | 'className'>

type Typed<Tag extends 'input' | 'textarea'> = Described & Native<Tag> & { mono?: boolean }

export function TextField({ label, note, hint, problem, mono, ...rest }: Typed<'input'>) {
  return (
    <Field {...{ label, note, hint, problem }} className={mono ? css['mono'] : undefined}>
      {(control) => <input type="text" autoComplete="off" spellCheck={false} {...rest} {...control} />}
    </Field>
  )
}

/** A text of several lines, which grows with its content. */
export function TextAreaField({ label, note, hint, problem, mono, ...rest }: Typed<'textarea'>) {
  return (
    <Field {...{ label, note, hint, problem }} className={mono ? css['mono'] : undefined}>
      {(control) => <textarea rows={2} spellCheck={!mono} {...rest} {...control} />}
    </Field>
  )
}

interface ChoiceProps<Value extends string> extends Described {
  value: Value
  /** Each value with its words. */
  choices: readonly (readonly [value: Value, text: ReactNode])[]
  onChange: (value: Value) => void
}

/** A choice among values that are all known. */
export function ChoiceField<Value extends string>({ choices, onChange, ...rest }: ChoiceProps<Value>) {
  return (
    <SelectField {...rest} onChange={({ target }) => onChange(target.value as Value)}>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </SelectField>
  )
}

/** A choice among few values, by the browser's own list. */
export function SelectField({ label, note, hint, problem, children, ...rest }: Described & Native<'select'>) {
  return (
    <Field {...{ label, note, hint, problem }} className={css['select']}>
      {(control) => (
        <select {...rest} {...control}>
          {children}
        </select>
      )}
    </Field>
  )
}

export function CheckField({ label, ...rest }: { label: ReactNode } & Native<'input'>) {
  return (
    <label className={css['check']}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  )
}

/** The classes of an input outside of a field, for example a filter box with an `aria-label`. */
export const inputClass = css['input'] ?? ''
export const selectClass = join(css['input'], css['select'])
