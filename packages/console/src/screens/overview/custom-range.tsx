import type { Stats } from '@stet/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { linkTabs } from '../../ui/table.tsx'
import { localInput } from '../../ui/time.tsx'
import { intervalOf } from './ranges.ts'

interface CustomRangeProps {
  /** The figures that are shown, whose time the fields begin with. */
  stats: Stats | undefined
  /** A chosen time is shown. */
  isShown: boolean
}

/** Shows a time that is typed. It goes into the address. */
export function CustomRange({ stats, isShown }: CustomRangeProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        className={linkTabs.link}
        aria-current={isShown ? 'true' : undefined}
        onClick={() => setOpen(true)}
      >
        Custom
      </button>
      {isOpen && <RangeDialog stats={stats} onClose={() => setOpen(false)} />}
    </>
  )
}

function RangeDialog({ stats, onClose }: { stats: Stats | undefined; onClose: () => void }) {
  const [from, setFrom] = useState(() => localInput(stats?.from ?? ''))
  const [to, setTo] = useState(() => localInput(stats?.asOf ?? ''))
  const navigate = useNavigate()
  const range = intervalOf(from, to)
  return (
    <FormDialog
      title="Choose a time"
      submit="Show"
      busy={false}
      missing={!range && 'the time must begin before its end, at most 366 days'}
      onSubmit={() => {
        if (range) void navigate({ to: '.', search: (search) => ({ ...search, range }), replace: true })
        onClose()
      }}
      onClose={onClose}
    >
      <TextField label="From" type="datetime-local" value={from} onChange={({ target }) => setFrom(target.value)} />
      <TextField label="To" type="datetime-local" value={to} onChange={({ target }) => setTo(target.value)} />
    </FormDialog>
  )
}
