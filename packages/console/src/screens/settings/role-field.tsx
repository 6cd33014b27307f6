import { roles } from '../../app/roles.ts'
import { ChoiceField } from '../../ui/field.tsx'

/** A choice of what a key or a person may do. */
export function RoleField({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  const chosen = roles.find(({ name }) => name === value)
  return (
    <ChoiceField
      label="Role"
      note={chosen?.scopes.join(', ')}
      value={value}
      choices={roles.map(({ name, text }) => [name, `${name}: ${text}`])}
      onChange={onChange}
    />
  )
}
