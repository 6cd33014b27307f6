import type { Version } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import { Chip, Live } from '../../ui/mark.tsx'
import { Table } from '../../ui/table.tsx'
import { counted, Time } from '../../ui/time.tsx'
import css from './page.module.css'

interface VersionListProps {
  project: string
  versions: readonly Version[]
  current: string | undefined
}

export function VersionList({ project, versions, current }: VersionListProps) {
  return (
    <Table label="Published versions" head={['Version', 'Title', 'Author', 'Published by', 'Published', 'Changes']}>
      {versions.map((version) => (
        <tr key={version.uuid} aria-current={version.uuid === current || undefined} className={css['row']}>
          <td className={css['number']}>
            <Link to="/p/$project/history/$entry" params={{ project, entry: version.uuid }} data-row>
              {version.isLive ? <Live>{`v${version.version}`}</Live> : `v${version.version}`}
            </Link>
            {version.isLive && <Chip tone="green">live</Chip>}
          </td>
          <td className={css['title']}>{version.title}</td>
          <td>{version.authorName}</td>
          <td>{version.publishedBy?.name ?? '–'}</td>
          <td>{version.mergedAt && <Time at={version.mergedAt} />}</td>
          <td>
            {counted(version.changeCount, 'prompt')}
            {version.forcedEdits.length > 0 && (
              <Chip tone="amber">{counted(version.forcedEdits.length, 'forced edit')}</Chip>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
