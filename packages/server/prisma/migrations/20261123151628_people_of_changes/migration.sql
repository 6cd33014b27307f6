-- AlterTable
ALTER TABLE "document" ADD COLUMN     "author_id" INTEGER;

-- AlterTable
ALTER TABLE "version" ADD COLUMN     "published_by" INTEGER;
