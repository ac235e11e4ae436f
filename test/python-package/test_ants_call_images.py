# SPDX-License-Identifier: Apache-2.0
"""The images of a call of antsRegistration that stay on the device from stage to stage."""

import gc
import weakref

import numpy as np
from conftest import make_head
from gpuregistration.ants.call_images import CallImages, read_image_named
from gpuregistration.ants.registration_call import read_registration
from gpuregistration.command.times import Times


def make_images(line):
    head = make_head(shape=(12, 13, 11), spacing=(6.0, 6.0, 6.0))
    call = read_registration(line.split())
    images = {"f": head, "m": head.like(head.array[::-1].copy())}
    return call, CallImages(call, read_image_named(images), Times())


STAGE = "-t Rigid[0.1] -m GC[f,m] -c 10 -f 1 -s 0"


def test_stages_of_the_same_images_share_them():
    call, images = make_images(f"-d 3 -o P {STAGE} {STAGE}")
    first, second = (images.pairs(stage)[0] for stage in call.stages)
    assert first is second
    assert first.load("host") is second.load("host")


def test_images_are_let_go_where_a_stage_sees_others():
    call, images = make_images(f"-d 3 -o P {STAGE} {STAGE}")
    first = weakref.ref(images.pairs(call.stages[0])[0])
    gc.collect()
    assert first() is not None
    seen = images.pairs(call.stages[1], see_moving=lambda one: one)
    gc.collect()
    assert first() is None
    assert np.isfinite(seen[0].moving.array).all()
