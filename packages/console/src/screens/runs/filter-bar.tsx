import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { pathsOf, treeQuery, versionsQuery } from '../../app/queries.ts'
import { useSession } from '../../app/session.ts'
import { useShortcut } from '../../app/shortcuts.ts'
import { type RunFilter, runFilter } from '../../runs/run-filter.ts'
import { Button, Hidden, join } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Icon } from '../../ui/icon.tsx'
import layout from '../../ui/styles/layout.module.css'
import { localInput } from '../../ui/time.tsx'
import { chipsOf, includes, quickFilters, versionName, without } from './filters.ts'
import { tagsQuery } from './queries.ts'
import css from './runs.module.css'

interface FilterProps {
  projectId: number
  filter: RunFilter
  onChange: (filter: RunFilter) => void
}

/** Filters of one click, the others behind a button, and the current ones as chips. */
export function FilterBar({ projectId, filter, onChange }: FilterProps) {
  const [isOpen, setOpen] = useState(false)
  useShortcut({ keys: 'f', label: 'Filter the runs', group: 'Runs', run: () => setOpen(true) })
  return (
    <div className={layout['stack']} data-keeps-focus="button">
      <div className={join(layout['row'], css['quick'])}>
        {quickFilters.map(({ label, filter: part }) => {
          const isOn = includes(filter, part)
          return (
            <Button
              key={label}
              look="quiet"
              aria-pressed={isOn}
              onClick={() => onChange(isOn ? without(filter, part) : { ...filter, ...part })}
            >
              {label}
            </Button>
          )
        })}
        <Button shortcut="f" onClick={() => setOpen(true)}>
          <Icon name="search" /> Filter
        </Button>
      </div>
      <FilterChips {...{ projectId, filter, onChange }} />
      {isOpen && (
        <FilterDialog
          {...{ projectId, filter }}
          onChange={(next) => {
            setOpen(false)
            onChange(next)
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

/** The fields of a filter, each with a button that removes it. */
function FilterChips({ projectId, filter, onChange }: FilterProps) {
  const { data: versions } = useQuery(versionsQuery(projectId))
  const { author } = useSession().apiKey
  const chips = chipsOf(filter, versions, author.id)
  if (chips.length === 0) return null
  return (
    <ul className={layout['row']} aria-label="Filters">
      {chips.map(({ name, text }) => (
        <li key={name}>
          <Button
            className={join(layout['cut'], css['chip'])}
            onClick={() => onChange(without(filter, { [name]: true }))}
          >
            <Hidden>Remove the filter</Hidden> {withSigns(text)} <Icon name="close" size={12} />
          </Button>
        </li>
      ))}
    </ul>
  )
}

interface FilterDialogProps extends FilterProps {
  onClose: () => void
}

function FilterDialog({ projectId, filter, onChange, onClose }: FilterDialogProps) {
  // As typed: half a number is no filter yet.
  const [typed, setTyped] = useState<Partial<Record<keyof RunFilter, string | number>>>(filter)
  const { data: versions } = useQuery(versionsQuery(projectId))
  const { data: paths = [] } = useQuery({ ...treeQuery(projectId, 'live'), select: pathsOf })
  const { data: tags = [] } = useQuery(tagsQuery(projectId))
  const field = (name: keyof RunFilter) => ({
    value: String(typed[name] ?? ''),
    onChange: ({ currentTarget: { value } }: FormEvent<HTMLInputElement | HTMLSelectElement>) =>
      setTyped((now) => ({ ...now, [name]: value })),
  })
  const instant = (name: 'from' | 'to') => ({
    type: 'datetime-local',
    ...field(name),
    value: localInput(String(typed[name] ?? '')),
  })
  return (
    <FormDialog
      title="Filter the runs"
      wide
      submit="Show these runs"
      busy={false}
      onSubmit={() => onChange(runFilter(typed))}
      onClose={onClose}
    >
      <div className={css['fields']}>
        <SelectField label="State" {...field('status')}>
          <option value="">Any</option>
          <option value="completed">Completed</option>
          <option value="error">Failed</option>
          <option value="stopped">Stopped</option>
          <option value="running">Running</option>
          <option value="queued">Queued</option>
        </SelectField>
        <TextField label="Prompt" list="run-filter-paths" placeholder="Any" {...field('path')} />
        <datalist id="run-filter-paths">
          {paths.map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <SelectField label="Version" {...field('versionUuid')}>
          <option value="">Any</option>
          {versions?.map(({ uuid }) => (
            <option key={uuid} value={uuid}>
              {versionName(versions, uuid)}
            </option>
          ))}
        </SelectField>
        <TextField label="Model" placeholder="Any" {...field('model')} />
        <SelectField label="Started from" {...field('via')}>
          <option value="">API and console</option>
          <option value="api">API</option>
          <option value="console">Console</option>
        </SelectField>
        <SelectField label="Author" {...field('author')}>
          <option value="">Anyone</option>
          <option value="me">Me</option>
          {typed.author && typed.author !== 'me' && <option value={typed.author}>Author {typed.author}</option>}
        </SelectField>
        <TextField label="Identifier" placeholder="Any" {...field('customIdentifier')} />
        <TextField label="Tag" list="run-filter-tags" placeholder="Any" {...field('tag')} />
        <datalist id="run-filter-tags">
          {tags.map(({ tag }) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
        <SelectField label="Feedback" {...field('feedback')}>
          <option value="">Any or none</option>
          <option value="up">Thumbs up</option>
          <option value="down">Thumbs down</option>
        </SelectField>
        <TextField label="Cost from" note="USD" type="number" min="0" step="any" {...field('minCost')} />
        <TextField label="Duration from" note="milliseconds" type="number" min="0" {...field('minDurationMs')} />
        <TextField label="Since" {...instant('from')} />
        <TextField label="Until" {...instant('to')} />
      </div>
    </FormDialog>
  )
}
