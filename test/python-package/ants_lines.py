# SPDX-License-Identifier: Apache-2.0
"""Command lines of antsRegistration as other programs make them, with FIXED and MOVING for the images."""

_LINEAR = "--transform {}[0.1] --metric MI[FIXED,MOVING,1,32,Regular,0.25] --convergence [1000x500x250x{},1e-6,10] --shrink-factors 8x4x2x1 "
_LINEAR += "--smoothing-sigmas 3x2x1x0vox "
_SCRIPT = "--verbose 1 --dimensionality 3 --float 0 --collapse-output-transforms 1 --output [out,outWarped.nii.gz,outInverseWarped.nii.gz] "
_SCRIPT += "--interpolation Linear --use-histogram-matching 0 --winsorize-image-intensities [0.005,0.995] -x [NULL,NULL] "
_SCRIPT += "--initial-moving-transform [FIXED,MOVING,1] "
_SYN = "--convergence [100x70x50x{},1e-6,10] --shrink-factors 8x4x2x1 --smoothing-sigmas 3x2x1x0vox"

#: antsRegistrationSyN.sh and antsRegistrationSyNQuick.sh.
SYN = _SCRIPT + _LINEAR.format("Rigid", 100) + _LINEAR.format("Affine", 100) + "--transform SyN[0.2,3,0] --metric CC[FIXED,MOVING,1,2] " + _SYN.format(20)
QUICK = _SCRIPT + _LINEAR.format("Rigid", 0) + _LINEAR.format("Affine", 0) + "--transform SyN[0.2,3,0] --metric MI[FIXED,MOVING,1,32] " + _SYN.format(0)

#: ANTsPy's "SyN".
ANTSPY = (
    "--dimensionality 3 -r [FIXED,MOVING,1] --metric mattes[FIXED,MOVING,1,32,regular,0.2] --transform Affine[0.25] "
    "--convergence 2100x1200x1200x0 --smoothing-sigmas 3x2x1x0 --shrink-factors 4x2x2x1 -x [NA,NA] --metric mattes[FIXED,MOVING,1,32] "
    "--transform SyN[0.200000,3.000000,0.000000] --convergence [40x20x0,1e-7,8] --smoothing-sigmas 2x1x0 --shrink-factors 4x2x1 -u 0 -z 1 "
    "--output [out,warped.nii.gz,inverse.nii.gz] -x [NA,NA] --float 1 --write-composite-transform 0"
)

#: nipype's, with fMRIPrep's three settings.
PRECISE = (
    "--collapse-output-transforms 1 --dimensionality 3 --initial-moving-transform [ FIXED, MOVING, 1 ] --initialize-transforms-per-stage 0 "
    "--interpolation LanczosWindowedSinc --output [ ants_t1_to_mni, ants_t1_to_mni_Warped.nii.gz ] --transform Rigid[ 0.05 ] "
    "--metric Mattes[ FIXED, MOVING, 1, 56, Regular, 0.25 ] --convergence [ 100x100, 1e-06, 20 ] --smoothing-sigmas 2.0x1.0vox "
    "--shrink-factors 2x1 --use-estimate-learning-rate-once 1 --use-histogram-matching 1 --masks [ NULL, NULL ] --transform Affine[ 0.08 ] "
    "--metric Mattes[ FIXED, MOVING, 1, 56, Regular, 0.25 ] --convergence [ 100x100, 1e-06, 20 ] --smoothing-sigmas 1.0x0.0vox "
    "--shrink-factors 2x1 --use-estimate-learning-rate-once 1 --use-histogram-matching 1 --masks [ NULL, NULL ] "
    "--transform SyN[ 0.1, 3.0, 0.0 ] --metric CC[ FIXED, MOVING, 1, 4, None, 1 ] --convergence [ 100x70x50x20, 1e-06, 10 ] "
    "--smoothing-sigmas 3.0x2.0x1.0x0.0vox --shrink-factors 8x4x2x1 --use-estimate-learning-rate-once 1 --use-histogram-matching 1 "
    "--masks [ MASK, MASK ] --winsorize-image-intensities [ 0.005, 0.995 ]  --write-composite-transform 1"
)
FAST = (
    "--collapse-output-transforms 1 --dimensionality 3 --float 1 --initial-moving-transform [ INITIAL, 0 ] --initialize-transforms-per-stage 0 "
    "--interpolation LanczosWindowedSinc --output [ ants_t1_to_mni, ants_t1_to_mni_Warped.nii.gz ] --transform Rigid[ 0.01 ] "
    "--metric Mattes[ FIXED, MOVING, 1, 32, Random, 0.15 ] --convergence [ 1000, 1e-06, 20 ] --smoothing-sigmas 4.0vox --shrink-factors 4 "
    "--use-histogram-matching 1 --transform Affine[ 0.08 ] --metric Mattes[ FIXED, MOVING, 1, 32, Regular, 0.15 ] "
    "--convergence [ 500x250x100, 1e-06, 20 ] --smoothing-sigmas 4.0x2.0x0.0vox --shrink-factors 4x2x1 --use-histogram-matching 1 "
    "--transform SyN[ 0.1, 3.0, 0.0 ] --metric Mattes[ FIXED, MOVING, 1, 56, Regular, 0.25 ] --convergence [ 50x20, 1e-06, 10 ] "
    "--smoothing-sigmas 1.0x0.0vox --shrink-factors 2x1 --use-histogram-matching 1 -v --winsorize-image-intensities [ 0.0, 1.0 ]  "
    "--write-composite-transform 0"
)
TESTING = (
    "--collapse-output-transforms 1 --dimensionality 3 --initial-moving-transform [ FIXED, MOVING, 1 ] --initialize-transforms-per-stage 0 "
    "--interpolation LanczosWindowedSinc --output [ ants_t1_to_mni, ants_t1_to_mni_Warped.nii.gz ] --transform Rigid[ 1.0 ] "
    "--metric Mattes[ FIXED, MOVING, 1, 56, Random, 0.2 ] --convergence [ 20, 1e-07, 15 ] --smoothing-sigmas 4.0vox --shrink-factors 2 "
    "--use-histogram-matching 0 --transform Affine[ 1.0 ] --metric Mattes[ FIXED, MOVING, 1, 56, Random, 0.1 ] "
    "--convergence [ 15, 1e-08, 5 ] --smoothing-sigmas 2.0vox --shrink-factors 1 --use-histogram-matching 1 "
    "--winsorize-image-intensities [ 0.005, 0.995 ]  --write-composite-transform 1"
)
LINES = {"SYN": SYN, "QUICK": QUICK, "ANTSPY": ANTSPY, "PRECISE": PRECISE, "FAST": FAST, "TESTING": TESTING}
