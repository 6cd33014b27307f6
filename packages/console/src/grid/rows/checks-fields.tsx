import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import css from '../grid.module.css'
import { Part } from '../part.tsx'
import { type CheckForm, kinds, newCheck } from './check-form.ts'

interface ChecksFieldsProps {
  forms: readonly CheckForm[]
  onChange: (forms: CheckForm[]) => void
}

/** A list has at most so many. */
const mostChecks = 10

/** The checks of a row, or of an evaluation. An answer passes if all of them pass. */
export function ChecksFields({ forms, onChange }: ChecksFieldsProps) {
  return (
    <>
      {forms.map((form, at) => (
        <CheckFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a check is what is in its place
          key={at}
          form={form}
          number={at + 1}
          onChange={(change) => onChange(forms.map((one, place) => (place === at ? { ...one, ...change } : one)))}
          onRemove={() => onChange(forms.filter((_, place) => place !== at))}
        />
      ))}
      <div className={css['flow']}>
        <Button
          blocked={forms.length >= mostChecks && `${mostChecks} checks are the most`}
          onClick={() => onChange([...forms, newCheck()])}
        >
          <Icon name="plus" /> Add a check
        </Button>
      </div>
    </>
  )
}

interface CheckFieldsProps {
  form: CheckForm
  number: number
  onChange: (change: Partial<CheckForm>) => void
  onRemove: () => void
}

function CheckFields({ form, number, onChange, onRemove }: CheckFieldsProps) {
  const { kind, text, flags, field, isNegated, isCaseSensitive } = form
  const { value, hint, isLong, isOfAnswer, isCaseSensitive: mayIgnoreCase } = kinds[kind]
  const Value = isLong ? TextAreaField : TextField
  return (
    <Part title={`Check ${number}`} what={`check ${number}`} onRemove={onRemove}>
      <div className={css['fields']}>
        <SelectField
          label="The answer"
          value={kind}
          onChange={({ target }) => {
            const next = target.value as CheckForm['kind']
            onChange({ kind: next, isCaseSensitive: kinds[next].isCaseSensitive ?? false })
          }}
        >
          {Object.entries(kinds).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </SelectField>
        <Value
          label={value}
          mono={kind === 'regex' || kind === 'json_schema'}
          value={text}
          hint={hint}
          onChange={({ target }: { target: { value: string } }) => onChange({ text: target.value })}
        />
        {kind === 'regex' && (
          <TextField
            label="Flags"
            placeholder="imsu"
            value={flags}
            onChange={({ target }) => onChange({ flags: target.value })}
          />
        )}
        {isOfAnswer && (
          <TextField
            label="Field"
            note="optional"
            placeholder="/order/id"
            value={field}
            onChange={({ target }) => onChange({ field: target.value })}
          />
        )}
      </div>
      <div className={css['flow']}>
        <CheckField
          label="Invert: pass if this is not the case"
          checked={isNegated}
          onChange={({ target }) => onChange({ isNegated: target.checked })}
        />
        {mayIgnoreCase !== undefined && (
          <CheckField
            label="Case matters"
            checked={isCaseSensitive}
            onChange={({ target }) => onChange({ isCaseSensitive: target.checked })}
          />
        )}
      </div>
    </Part>
  )
}
