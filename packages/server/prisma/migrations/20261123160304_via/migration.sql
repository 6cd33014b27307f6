-- AlterTable
ALTER TABLE "conversation" ADD COLUMN     "via" TEXT NOT NULL DEFAULT 'api';

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "via" TEXT NOT NULL DEFAULT 'api';
