-- AlterTable
ALTER TABLE "annotation" ALTER COLUMN "metadata" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "conversation" ALTER COLUMN "config" SET DATA TYPE JSON,
ALTER COLUMN "messages" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "evaluation" ALTER COLUMN "configuration" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "log_entry" ALTER COLUMN "parameters" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "provider_key" ALTER COLUMN "configuration" SET DATA TYPE JSON;

-- AlterTable
ALTER TABLE "run" ALTER COLUMN "result" SET DATA TYPE JSON;
