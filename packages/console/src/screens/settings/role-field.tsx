import { roles } from '../../app/roles.ts'
import { SelectField } from '../../ui/field.tsx'

/** A choice of what a key or a person may do. */
export function RoleField({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  const chosen = roles.find(({ name }) => name === value)
  return (
    <SelectField
      label="Role"
      note={chosen?.scopes.join(', ')}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {roles.map(({ name, text }) => (
        <option key={name} value={name}>
          {name}: {text}
        </option>
      ))}
    </SelectField>
  )
}
