import type { Release, Version } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toEntry } from '../../app/addresses.ts'
import { Chip, Live } from '../../ui/mark.tsx'
import { Table } from '../../ui/table.tsx'
import { counted, Time } from '../../ui/time.tsx'
import type { HistoryRow } from './history-rows.ts'
import css from './page.module.css'

interface HistoryListProps {
  project: string
  rows: readonly HistoryRow[]
  current: HistoryRow | undefined
}

export function HistoryList({ project, rows, current }: HistoryListProps) {
  return (
    <Table label="Versions and rollbacks" head={['Version', 'Title', 'Author', 'Published by', 'Time', 'Changes']}>
      {rows.map((row) => (
        <tr
          key={row.kind === 'rollback' ? row.release.uuid : row.entry}
          aria-current={row === current || undefined}
          data-kind={row.kind}
          className={css['row']}
        >
          <td className={css['number']}>
            <Link {...toEntry(project, row.entry)} data-row>
              <Name row={row} />
            </Link>
            {row.kind !== 'rollback' && row.isLive && <Chip tone="green">live</Chip>}
          </td>
          {row.kind === 'rollback' ? (
            <RollbackCells release={row.release} />
          ) : row.edit ? (
            <EditCells edit={row.edit} />
          ) : (
            <VersionCells version={row.version} />
          )}
        </tr>
      ))}
    </Table>
  )
}

function Name({ row }: { row: HistoryRow }): ReactNode {
  if (row.kind === 'rollback') return `Rolled back to ${row.name}`
  return row.isLive ? <Live>{row.name}</Live> : row.name
}

function VersionCells({ version }: { version: Version }) {
  return (
    <>
      <td className={css['title']}>{version.title}</td>
      <td>{version.authorName}</td>
      <td>{version.publishedBy?.name ?? '–'}</td>
      <td>{version.mergedAt && <Time at={version.mergedAt} />}</td>
      <td>{counted(version.changeCount, 'prompt')}</td>
    </>
  )
}

function EditCells({ edit }: { edit: Version['forcedEdits'][number] }) {
  return (
    <>
      <td className={css['title']}>
        <code>{edit.path}</code> {edit.oldHash === null ? 'added' : 'edited'} with force
      </td>
      <td>{edit.author.name}</td>
      <td>–</td>
      <td>
        <Time at={edit.createdAt} />
      </td>
      <td>1 prompt</td>
    </>
  )
}

function RollbackCells({ release }: { release: Release }) {
  return (
    <>
      <td className={css['title']}>{release.reason ?? '–'}</td>
      <td>{release.author.name}</td>
      <td>–</td>
      <td>
        <Time at={release.createdAt} />
      </td>
      <td>–</td>
    </>
  )
}
