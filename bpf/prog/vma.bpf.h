/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_VMA_BPF_H
#define STACKTOP_BPF_PROG_VMA_BPF_H

/*
 * Finds the mapping of the current task at an address. bpf_find_vma releases its lock only after
 * the interrupt, so a sample could use it once. Therefore this searches the maple tree of the
 * mappings (include/linux/maple_tree.h, from Linux 6.1 on) in copies of its nodes. Whatever the
 * process does meanwhile, the answer is the mapping or none.
 *
 * The includer first provides `struct vma_search *vma_search(void)`, memory for a search.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/magic.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/prog/layout.h"

#define MAPLE_WORDS  32u /* of a node, which begins at a multiple of its size */
#define MAPLE_MASK   (MAPLE_WORDS * 8ull - 1)
#define MAPLE_LEVELS 8

enum maple_type {
	MAPLE_DENSE,
	MAPLE_LEAF,
	MAPLE_RANGE,
	MAPLE_ARANGE,
};

struct vma_search {
	__u64 addr;
	__u64 entry; /* of the tree: a node, in the end the mapping */
	/* Of the mapping found: */
	__u64 start, end, pages;
	__u64 file; /* 0: anonymous memory */
	__u64 base; /* as vma_tag has it */
	/* Kept here since the BPF stack of a walk has no room. */
	__u64 mm, dentry, inode, sb, number, seconds, nanoseconds;
	__u32 dev, child;
	__u64 node[MAPLE_WORDS];
};

static struct vma_search *vma_search(void);

struct maple_tree___vma {
	void *ma_root;
} __attribute__((preserve_access_index));

struct mm_struct___vma {
	struct maple_tree___vma mm_mt;
} __attribute__((preserve_access_index));

struct mm_struct___number { /* from Linux 6.4 on */
	int mm_lock_seq;
} __attribute__((preserve_access_index));

struct seqcount {
	unsigned int sequence;
} __attribute__((preserve_access_index));

struct mm_struct___count { /* from Linux 6.13 on */
	struct seqcount mm_lock_seq;
} __attribute__((preserve_access_index));

struct task_struct___vma {
	struct mm_struct___vma *mm;
} __attribute__((preserve_access_index));

struct super_block___vma {
	__u32 s_dev;
	unsigned long s_magic;
} __attribute__((preserve_access_index));

struct timespec64___vma {
	__s64 tv_sec;
	long tv_nsec;
} __attribute__((preserve_access_index));

struct inode___vma {
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block___vma *i_sb;
	struct timespec64___vma i_ctime;
} __attribute__((preserve_access_index));

struct inode___accessor { /* from Linux 6.6 on */
	struct timespec64___vma __i_ctime;
} __attribute__((preserve_access_index));

struct inode___split { /* from Linux 6.11 on */
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
} __attribute__((preserve_access_index));

struct dentry___vma {
	struct inode___vma *d_inode;
} __attribute__((preserve_access_index));

struct path___vma {
	struct dentry___vma *dentry;
} __attribute__((preserve_access_index));

struct file___vma {
	struct inode___vma *f_inode;
	struct path___vma f_path;
} __attribute__((preserve_access_index));

struct backing_file___vma {
	struct path___vma user_path;
} __attribute__((preserve_access_index));

struct vm_area_struct___vma {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	struct file___vma *vm_file;
} __attribute__((preserve_access_index));

static __always_inline const struct mm_struct___vma *vma_current_mm(void)
{
	const struct task_struct___vma *task = (const void *)bpf_get_current_task();
	const struct mm_struct___vma *mm = NULL;

	return bpf_core_read(&mm, sizeof(mm), &task->mm) ? NULL : mm;
}

/*
 * *number: a count that grows whenever a mapping of the current task changes. False: this kernel
 * has none.
 */
static __always_inline int vma_changes(__u32 *number)
{
	const struct mm_struct___number *old = (const void *)vma_current_mm();
	const struct mm_struct___count *new = (const void *)old;

	if (bpf_core_field_exists(new->mm_lock_seq.sequence))
		return !bpf_core_read(number, sizeof(*number), &new->mm_lock_seq.sequence);
	if (bpf_core_field_exists(old->mm_lock_seq))
		return !bpf_core_read(number, sizeof(*number), &old->mm_lock_seq);
	return 0;
}

/* The same without a helper, where a program may read the current task. */
static __always_inline int vma_changes_here(__u32 *number)
{
	const struct task_struct___vma *task = (const void *)bpf_get_current_task_btf();
	const struct mm_struct___number *old = (const void *)task->mm;
	const struct mm_struct___count *new = (const void *)old;

	if (!old)
		return 0;
	if (bpf_core_field_exists(new->mm_lock_seq.sequence))
		*number = new->mm_lock_seq.sequence;
	else if (bpf_core_field_exists(old->mm_lock_seq))
		*number = (__u32)old->mm_lock_seq;
	else
		return 0;
	return 1;
}

/*
 * Goes one level down: 1, or 0 at the end. A node has the address of its parent, the last addresses
 * of its children but the last one (pivots), then the children (slots).
 */
__attribute__((noinline)) int vma_descend(void)
{
	struct vma_search *s = vma_search();
	__u32 type, pivots, i;

	if (!s)
		return 0;
	type = s->entry >> 3 & 15;
	pivots = type == MAPLE_ARANGE ? 9 : 15;
	if (type < MAPLE_LEAF || type > MAPLE_ARANGE ||
	    bpf_probe_read_kernel(s->node, sizeof(s->node),
				  (const void *)(s->entry & ~MAPLE_MASK))) {
		s->entry = 0;
		return 0;
	}
	/* Behind the pivots stand kernel addresses, which are greater. */
	s->child = 0;
	for (i = 0; i < 15; i++) {
		if (s->node[1 + i] >= s->addr)
			break;
		s->child = i + 1;
	}
	/* Read again, not a constant, so that the verifier sees one end of the loop. */
	asm volatile("" ::: "memory");
	i = s->child + 1 + pivots;
	s->entry = s->node[i & (MAPLE_WORDS - 1)];
	return type != MAPLE_LEAF;
}

/* vma_file_tag of s->inode. 0: it cannot be read. */
static __always_inline __u64 vma_inode_tag(struct vma_search *s)
{
	const struct inode___vma *inode = (const void *)s->inode;
	const struct super_block___vma *sb;

	if (bpf_core_read(&s->number, sizeof(s->number), &inode->i_ino) ||
	    bpf_core_read(&s->sb, sizeof(s->sb), &inode->i_sb))
		return 0;
	sb = (const void *)s->sb;
	if (bpf_core_read(&s->dev, sizeof(s->dev), &sb->s_dev))
		return 0;
	return vma_file_tag(s->dev, s->number);
}

/* vma_file_tag of the file of the mapping found last. */
__attribute__((noinline)) __u64 vma_real_tag(void)
{
	const struct file___vma *file;
	struct vma_search *s = vma_search();

	if (!s)
		return 0;
	file = (const void *)s->file;
	return bpf_core_read(&s->inode, sizeof(s->inode), &file->f_inode) ? 0 : vma_inode_tag(s);
}

/*
 * For a file of an overlay: the tag of the inode that /proc and the records of newer kernels show,
 * that of the opened path (struct backing_file). 0: any other file. Then there is no path behind
 * the file, and what is read instead leads to no such file system.
 */
__attribute__((noinline)) __u64 vma_shown_tag(void)
{
	const struct backing_file___vma *file = NULL;
	const struct super_block___vma *sb;
	const struct dentry___vma *dentry;
	const struct inode___vma *inode;
	struct vma_search *s = vma_search();

	if (!s || !bpf_core_field_exists(file->user_path))
		return 0;
	file = (const void *)s->file;
	if (bpf_core_read(&s->dentry, sizeof(s->dentry), &file->user_path.dentry))
		return 0;
	dentry = (const void *)s->dentry;
	if (bpf_core_read(&s->inode, sizeof(s->inode), &dentry->d_inode))
		return 0;
	inode = (const void *)s->inode;
	if (bpf_core_read(&s->sb, sizeof(s->sb), &inode->i_sb))
		return 0;
	sb = (const void *)s->sb;
	if (bpf_core_read(&s->number, sizeof(s->number), &sb->s_magic) ||
	    (s->number != OVERLAYFS_SUPER_MAGIC && s->number != FUSE_SUPER_MAGIC))
		return 0;
	return vma_inode_tag(s);
}

#define CTIME_QUERIED (1u << 31) /* I_CTIME_QUERIED of include/linux/fs.h, from Linux 6.13 on */

/* ctime of the file that a tag was last made of, ns; 0: it cannot be read. */
static __always_inline __u64 vma_change(struct vma_search *s)
{
	const struct inode___accessor *accessor = (const void *)s->inode;
	const struct inode___split *split = (const void *)s->inode;
	const struct inode___vma *inode = (const void *)s->inode;

	s->nanoseconds = 0;
	if (bpf_core_field_exists(split->i_ctime_nsec)) {
		if (bpf_core_read(&s->seconds, sizeof(s->seconds), &split->i_ctime_sec) ||
		    bpf_core_read(&s->nanoseconds, sizeof(__u32), &split->i_ctime_nsec))
			return 0;
	} else if (bpf_core_field_exists(accessor->__i_ctime)) {
		if (bpf_core_read(&s->seconds, sizeof(s->seconds), &accessor->__i_ctime.tv_sec) ||
		    bpf_core_read(&s->nanoseconds, sizeof(s->nanoseconds),
				  &accessor->__i_ctime.tv_nsec))
			return 0;
	} else if (bpf_core_read(&s->seconds, sizeof(s->seconds), &inode->i_ctime.tv_sec) ||
		   bpf_core_read(&s->nanoseconds, sizeof(s->nanoseconds),
				 &inode->i_ctime.tv_nsec)) {
		return 0;
	}
	return s->seconds * 1000000000ull + (s->nanoseconds & ~(__u64)CTIME_QUERIED);
}

/* Finds the mapping of the current task at the address; 0: there is none. */
__attribute__((noinline)) int vma_find(__u64 addr)
{
	const struct task_struct___vma *task = (const void *)bpf_get_current_task();
	const struct vm_area_struct___vma *vma;
	const struct mm_struct___vma *mm = NULL;
	struct vma_search *s = vma_search();
	int i;

	if (!s || !bpf_core_field_exists(mm->mm_mt) ||
	    bpf_core_read(&s->mm, sizeof(s->mm), &task->mm))
		return 0;
	mm = (const void *)s->mm;
	if (bpf_core_read(&s->entry, sizeof(s->entry), &mm->mm_mt.ma_root))
		return 0;
	s->addr = addr;
	for (i = 0; i < MAPLE_LEVELS; i++)
		if (!vma_descend())
			break;
	vma = (const void *)s->entry;
	if (bpf_core_read(&s->start, sizeof(s->start), &vma->vm_start) ||
	    bpf_core_read(&s->end, sizeof(s->end), &vma->vm_end) || addr < s->start ||
	    addr >= s->end || bpf_core_read(&s->pages, sizeof(s->pages), &vma->vm_pgoff) ||
	    bpf_core_read(&s->file, sizeof(s->file), &vma->vm_file))
		return 0;
	s->base = s->start - (s->pages << 12);
	return 1;
}

/* 1: the mapping found last has that tag. */
static __always_inline int vma_is(struct vma_search *s, __u32 tag)
{
	__u64 shown;

	if (!s->file)
		return tag == VMA_ANONYMOUS;
	if (vma_tag(vma_real_tag(), s->base) == tag)
		return 1;
	shown = vma_shown_tag();
	return shown && vma_tag(shown, s->base) == tag;
}

/*
 * i_generation of the file that the last tag was computed from. 0 if its file system has none or
 * the file is mapped through an overlay: user space can only ask the overlay, which does not tell.
 */
static __always_inline __u32 vma_generation(struct vma_search *s)
{
	const struct inode___vma *inode = (const void *)s->inode;
	const struct super_block___vma *sb = (const void *)s->sb;
	const struct file___vma *file = (const void *)s->file;
	const struct dentry___vma *dentry;
	__u32 generation;

	if (bpf_core_read(&s->number, sizeof(s->number), &sb->s_magic) ||
	    !vma_has_generations(s->number) ||
	    bpf_core_read(&s->dentry, sizeof(s->dentry), &file->f_path.dentry))
		return 0;
	dentry = (const void *)s->dentry;
	if (bpf_core_read(&s->number, sizeof(s->number), &dentry->d_inode) ||
	    s->number != s->inode ||
	    bpf_core_read(&generation, sizeof(generation), &inode->i_generation))
		return 0;
	return generation;
}

/* vma_frame_tag of the current task's mapping, and the address's offset in its file; 0: none. */
static __always_inline __u64 vma_file(__u64 addr, __u64 *offset)
{
	struct vma_search *s = vma_search();
	__u64 tag;

	if (!s || !vma_find(addr) || !s->file)
		return 0;
	*offset = addr - s->base;
	tag = vma_shown_tag();
	if (!tag)
		tag = vma_real_tag();
	return tag ? vma_frame_tag(tag, vma_generation(s)) : 0;
}

#endif
